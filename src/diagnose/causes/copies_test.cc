// The causes about copies to the device: which is named depends on the memory, on the loop's wait, and on what runs
// beside the copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::ms;

struct Copying {
  double copy_ms = 20;
  wire::MemoryKind memory = wire::MemoryKind::kPinned;
  bool waited = false;
  bool hidden = false;  // kernels run meanwhile
  bool traced = true;
};

// Steps of 50 ms; in a window of ten, each copies first and then runs a kernel.
record::Run copying(const Copying& copying) {
  testing::RunBuilder builder;
  testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.device = "cuda:0";
  simulate_into(builder, simulation);
  if (!copying.traced) return builder.take();
  record::RankRecords& rank = builder.rank();
  const double first = static_cast<double>(rank.nexts[60].record.begin_ns) / 1e6;
  testing::add_window(rank, first, first + 500);
  for (double begin = first; begin < first + 500; begin += 50) {
    const double end = begin + copying.copy_ms;
    testing::add_copy(rank, begin + 1, end, copying.memory, 100'000'000);
    if (copying.waited) testing::add_wait(rank, begin, end + 0.02);
    testing::add_kernel(rank, copying.hidden ? begin : end + 0.1, begin + 49.9);
    testing::add_kernel(rank, begin, begin + 1);
  }
  return builder.take();
}

TEST(Copies, OutOfPageableMemoryAreNamedWithTheSetting) {
  const Diagnosis d = diagnose(copying({.memory = wire::MemoryKind::kPageable, .waited = true}));
  EXPECT_EQ(d.verdict.cause, "pageable_copy");
  EXPECT_NEAR(d.causes[0].share, 0.38, 0.02);
  EXPECT_NEAR(*d.causes[0].gain.max, 1 / 0.62, 0.05);
  ASSERT_EQ(d.causes[0].fix.settings.size(), 1u);
  EXPECT_EQ(d.causes[0].fix.settings[0].name, "pin_memory");
}

TEST(Copies, ThatTheLoopWaitsForAreBlocking) {
  const Diagnosis d = diagnose(copying({.waited = true}));
  EXPECT_EQ(d.verdict.cause, "blocking_copy");
  EXPECT_THAT(d.verdict.summary, HasSubstr("stands still"));
}

TEST(Copies, BetweenTheKernelsAreUnoverlapped) {
  EXPECT_EQ(diagnose(copying({})).verdict.cause, "unoverlapped_copy");
}

TEST(Copies, ThatKernelsHideAreNotNamed) {
  for (const auto memory : {wire::MemoryKind::kPinned, wire::MemoryKind::kPageable}) {
    const Diagnosis d = diagnose(copying({.memory = memory, .waited = true, .hidden = true}));
    EXPECT_EQ(d.verdict.cause, "compute_bound");
    EXPECT_THAT(d.verdict.summary, HasSubstr("The GPU runs kernels"));
  }
}

TEST(Copies, ThatAreShortAreNotNamed) {
  EXPECT_EQ(diagnose(copying({.copy_ms = 2, .waited = true})).verdict.cause, "compute_bound");
}

TEST(Copies, AreNotSpokenOfWhereNothingWasTraced) {
  const Diagnosis d = diagnose(copying({.traced = false}));
  EXPECT_EQ(d.verdict.cause, "compute_bound");
  EXPECT_FALSE(d.copies);
  EXPECT_THAT(d.missing, ::testing::Contains(::testing::Field(&Missing::signal, "gpu")));
}

TEST(Copies, OfAStepAreReported) {
  const Diagnosis d = diagnose(copying({}));
  ASSERT_TRUE(d.copies && d.gpu);
  EXPECT_NEAR(d.copies->h2d_ms_per_batch, 19, 1.5);
  EXPECT_NEAR(*d.copies->pinned.gb_per_s, 100e6 / 19e6, 0.1);
  EXPECT_FALSE(d.copies->pageable.gb_per_s);
  EXPECT_NEAR(d.gpu->busy, 0.62, 0.02);
}

}  // namespace
}  // namespace fullbore::diagnose
