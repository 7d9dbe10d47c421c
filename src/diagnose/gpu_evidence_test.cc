#include "diagnose/gpu_evidence.h"

#include <gtest/gtest.h>

#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using testing::add_copy;
using testing::add_kernel;
using testing::add_wait;
using testing::add_window;
using testing::kTrainerPid;
using testing::ms;

constexpr auto kPinned = wire::MemoryKind::kPinned;
constexpr auto kPageable = wire::MemoryKind::kPageable;

std::optional<GpuEvidence> evidence(const record::RankRecords& rank) {
  return gpu_evidence(rank, kTrainerPid, 0, ms(10'000), ms(0.5));
}

TEST(GpuEvidence, KernelsThatRunTogetherCountOnce) {
  record::RankRecords rank;
  add_window(rank, 0, 100);
  add_kernel(rank, 10, 20);
  add_kernel(rank, 15, 30);
  add_kernel(rank, 40, 50);
  const auto seen = evidence(rank);
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->seen_ns, ms(40));
  EXPECT_DOUBLE_EQ(seen->busy(), 0.75);
}

TEST(GpuEvidence, OnlyWhatNoKernelHidesOfACopyIsExposed) {
  record::RankRecords rank;
  add_window(rank, 0, 100);
  add_kernel(rank, 10, 20);
  add_copy(rank, 15, 25, kPinned, 10'000'000);
  add_copy(rank, 26, 30, kPageable, 1'000'000);
  add_kernel(rank, 30, 50);
  const auto seen = evidence(rank);
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->pinned.exposed_ns, ms(5));
  EXPECT_DOUBLE_EQ(seen->pageable.exposed_ns, ms(4));
  EXPECT_DOUBLE_EQ(*seen->pinned.gb_per_s(), 1.0);
}

TEST(GpuEvidence, ACopyThatTheHostWaitedForIsTold) {
  record::RankRecords rank;
  add_window(rank, 0, 100);
  add_kernel(rank, 1, 2);
  add_copy(rank, 10, 14, kPinned, 3'000'000);
  add_wait(rank, 9, 14.03);
  add_copy(rank, 20, 24, kPinned, 1'000'000);
  add_wait(rank, 30, 31);
  add_kernel(rank, 40, 50);
  EXPECT_DOUBLE_EQ(evidence(rank)->waited_for, 0.75);
}

TEST(GpuEvidence, GapsAreToldApartByLength) {
  record::RankRecords rank;
  add_window(rank, 0, 300);
  for (const auto& [begin, end] : {std::pair{0.0, 10.0}, {10.5, 20.0}, {25.0, 30.0}, {60.0, 70.0}, {200.0, 201.0}})
    add_kernel(rank, begin, end);
  const auto seen = evidence(rank);
  EXPECT_EQ(seen->gap_ns, (std::array<double, 4>{ms(0.5), ms(5), ms(30), ms(130)}));
}

// Steps of 100 ms of which kernels take 10: a window of 50 ms that meets them would read 100 % busy.
TEST(GpuEvidence, AWindowShorterThanTwoStepsTellsNothing) {
  record::RankRecords rank;
  add_window(rank, 0, 50);
  add_kernel(rank, 20, 30);
  EXPECT_FALSE(gpu_evidence(rank, kTrainerPid, 0, ms(10'000), ms(100)));
  add_window(rank, 1000, 1300);
  for (const double begin : {1020.0, 1120.0, 1220.0}) add_kernel(rank, begin, begin + 10);
  const auto seen = gpu_evidence(rank, kTrainerPid, 0, ms(10'000), ms(100));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->windows, 1u);
  EXPECT_NEAR(seen->busy(), 30.0 / 210, 1e-9);
}

TEST(GpuEvidence, WindowsWithLossesOrOfOthersOrWithoutKernelsTellNothing) {
  record::RankRecords rank;
  add_window(rank, 0, 100);
  rank.trace_windows.back().record.dropped = 3;
  add_kernel(rank, 10, 20);
  add_window(rank, 200, 300);
  EXPECT_FALSE(evidence(rank));
  add_kernel(rank, 210, 220);
  EXPECT_TRUE(evidence(rank));
  EXPECT_FALSE(gpu_evidence(rank, kTrainerPid + 1, 0, ms(10'000), ms(0.5)));
  EXPECT_FALSE(gpu_evidence(rank, kTrainerPid, ms(250), ms(10'000), ms(0.5)));
}

}  // namespace
}  // namespace fullbore::diagnose
