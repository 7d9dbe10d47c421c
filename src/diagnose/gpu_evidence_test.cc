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

// A rank with a window, and steady iterations of one length that begin at 0.
struct Device {
  record::Run run;
  Trainer trainer;
  Iterations iterations;
  std::vector<Stretch> stretches;

  explicit Device(double step_ms = 10, int steps = 100) {
    run.ranks.emplace_back();
    trainer.pid = kTrainerPid;
    for (int i = 0; i < steps; ++i) {
      Iteration iteration;
      iteration.begin_ns = iteration.wait_end_ns = ms(i * step_ms);
      iteration.end_ns = ms((i + 1) * step_ms);
      iteration.steady = true;
      iterations.all.push_back(iteration);
    }
    iterations.whole_end_ns = ms(steps * step_ms);
  }

  record::RankRecords& rank() { return run.ranks[0]; }
  void claim(double begin_ms, double end_ms, Claim claim) { stretches.push_back({ms(begin_ms), ms(end_ms), claim}); }
  std::optional<GpuEvidence> evidence() {
    trainer.rank = &run.ranks[0];
    return gpu_evidence(run, trainer, iterations, stretches);
  }
};

double idle_ms(const GpuEvidence& device, Idle why) {
  return device.idle_ns[static_cast<std::size_t>(why)] / 1e6;
}

TEST(GpuEvidence, KernelsThatRunTogetherCountOnce) {
  Device device;
  add_window(device.rank(), 0, 40);
  for (double begin : {0.0, 10.0, 20.0, 30.0}) {
    add_kernel(device.rank(), begin, begin + 4);
    add_kernel(device.rank(), begin + 2, begin + 5);
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->iterations, 4u);
  EXPECT_DOUBLE_EQ(seen->seen_ns, ms(40));
  EXPECT_DOUBLE_EQ(seen->busy(), 0.5);
  EXPECT_EQ(seen->kernels, 8u);
}

// The device is known from the first kernel on that was launched in the window, and to the window's end.
TEST(GpuEvidence, OnlyWholeIterationsAreTaken) {
  Device device;
  add_window(device.rank(), 3, 47);
  for (double begin : {12.0, 22.0, 32.0, 42.0}) add_kernel(device.rank(), begin, begin + 1);
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->seen_ns, ms(20)) << "20 to 40: the first kernel cuts the second iteration, the end the last";
  EXPECT_DOUBLE_EQ(seen->busy(), 0.1);
}

// Steps of 100 ms of which kernels take 10: a window of 50 ms that meets them would read 100 % busy.
TEST(GpuEvidence, AWindowShorterThanTwoStepsTellsNothing) {
  Device device(100, 20);
  add_window(device.rank(), 0, 150);
  add_kernel(device.rank(), 0, 10);
  EXPECT_FALSE(device.evidence());
  add_window(device.rank(), 1000, 1300);
  for (double begin : {1000.0, 1100.0, 1200.0}) add_kernel(device.rank(), begin, begin + 10);
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->windows, 1u);
  EXPECT_NEAR(seen->busy(), 0.1, 1e-9);
}

TEST(GpuEvidence, AnUntypicalIterationIsLeftOut) {
  Device device;
  device.iterations.all[1].steady = false;
  add_window(device.rank(), 0, 30);
  for (double begin : {0.0, 10.0, 20.0}) add_kernel(device.rank(), begin, begin == 10 ? 20 : begin + 1);
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->iterations, 2u);
  EXPECT_DOUBLE_EQ(seen->busy(), 0.1);
}

TEST(GpuEvidence, WindowsWithLossesOrOfOthersOrWithoutKernelsTellNothing) {
  Device device;
  add_window(device.rank(), 0, 100);
  device.rank().trace_windows.back().record.dropped = 3;
  add_kernel(device.rank(), 10, 20);
  add_window(device.rank(), 200, 300);
  EXPECT_FALSE(device.evidence());
  add_kernel(device.rank(), 200, 220);
  EXPECT_TRUE(device.evidence());
  device.trainer.pid = kTrainerPid + 1;
  EXPECT_FALSE(device.evidence());
  device.trainer.pid = kTrainerPid;
  device.iterations.whole_begin_ns = ms(250);
  EXPECT_FALSE(device.evidence());
}

TEST(GpuEvidence, OnlyWhatNoKernelHidesOfACopyIsExposed) {
  Device device(50, 4);
  add_window(device.rank(), 0, 100);
  add_kernel(device.rank(), 0, 20);
  add_copy(device.rank(), 15, 25, kPinned, 10'000'000);
  add_copy(device.rank(), 40, 45, kPageable, 1'000'000);
  add_kernel(device.rank(), 60, 70);
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->pinned.exposed_ns, ms(5));
  EXPECT_DOUBLE_EQ(seen->pageable.exposed_ns, ms(5));
  EXPECT_DOUBLE_EQ(*seen->pinned.gb_per_s(), 1.0);
}

TEST(GpuEvidence, ACopyThatTheHostWaitedForIsTold) {
  Device device(50, 4);
  add_window(device.rank(), 0, 100);
  add_kernel(device.rank(), 0, 2);
  add_copy(device.rank(), 10, 14, kPinned, 3'000'000);
  add_wait(device.rank(), 9, 14.03);
  add_copy(device.rank(), 20, 24, kPinned, 1'000'000);
  add_wait(device.rank(), 30, 31);
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->waited_for, 0.75);
  EXPECT_DOUBLE_EQ(seen->device_wait_ns, ms(1)) << "the other wait is the copy's";
}

// Every instant without a kernel has one reason, and the first that claims it has it.
TEST(GpuEvidence, GapsGoToWhatTheThreadAndTheLinkDid) {
  Device device(100, 3);
  add_window(device.rank(), 0, 200);
  for (double begin : {0.0, 100.0}) {
    device.claim(begin + 1, begin + 11, Claim::kInputWait);
    add_kernel(device.rank(), begin, begin + 5);                         // hides 4 ms of the wait
    add_copy(device.rank(), begin + 9, begin + 15, kPinned, 1'000'000);  // 4 ms after the wait
    device.claim(begin + 30, begin + 40, Claim::kCheckpoint);
    add_kernel(device.rank(), begin + 50, begin + 60);
    add_kernel(device.rank(), begin + 60.002, begin + 70);  // queued
    add_wait(device.rank(), begin + 55, begin + 75);        // 5 ms beyond the kernel
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->input_wait_ns, ms(20));
  EXPECT_DOUBLE_EQ(seen->hidden_wait_ns, ms(8));
  EXPECT_NEAR(idle_ms(*seen, Idle::kInputWait), 12, 1e-6);
  EXPECT_NEAR(idle_ms(*seen, Idle::kCopy), 8, 1e-6);
  EXPECT_NEAR(idle_ms(*seen, Idle::kCheckpoint), 20, 1e-6);
  EXPECT_NEAR(idle_ms(*seen, Idle::kHostSync), 10, 1e-6);
  EXPECT_NEAR(idle_ms(*seen, Idle::kDeviceGap), 0.004, 1e-6);
  double all_ns = seen->busy_ns();
  for (const double ns : seen->idle_ns) all_ns += ns;
  EXPECT_NEAR(all_ns, seen->seen_ns, 1);
}

// Out of pageable memory the host fills a buffer first: a gap in front of the copy is the copy's.
TEST(GpuEvidence, TheHostSideOfAPageableCopyIsTheCopys) {
  Device device(50, 4);
  add_window(device.rank(), 0, 100);
  for (double begin : {0.0, 50.0}) {
    add_kernel(device.rank(), begin, begin + 10);
    device.claim(begin + 8, begin + 15, Claim::kInputWait);
    add_copy(device.rank(), begin + 25, begin + 30, kPageable, 1'000'000);
    add_kernel(device.rank(), begin + 31, begin + 49);
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_NEAR(idle_ms(*seen, Idle::kInputWait), 10, 1e-6);
  EXPECT_NEAR(idle_ms(*seen, Idle::kCopy), 30, 1e-6) << "15 to 30, twice";
  EXPECT_NEAR(idle_ms(*seen, Idle::kLaunch), 4, 1e-6);
}

TEST(GpuEvidence, ARowOfSmallCopiesIsOneThing) {
  Device device(50, 4);
  add_window(device.rank(), 0, 100);
  for (double begin : {0.0, 50.0}) {
    add_kernel(device.rank(), begin, begin + 10);
    for (int i = 0; i < 100; ++i)
      add_copy(device.rank(), begin + 20 + 0.1 * i, begin + 20.002 + 0.1 * i, kPinned, 2'000);
    add_copy(device.rank(), begin + 40, begin + 40.002, kPinned, 2'000);  // alone: no row
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->small.count, 200);
  EXPECT_NEAR(seen->small.idle_ns, ms(2 * 9.902), 10);
  EXPECT_NEAR(idle_ms(*seen, Idle::kCopy), 2 * 9.904, 1e-3);
}

TEST(GpuEvidence, GapsAreToldApartByLengthAndReason) {
  Device device(1000, 3);
  add_window(device.rank(), 0, 2000);
  for (double begin : {0.0, 1000.0}) {
    device.claim(begin + 60, begin + 200, Claim::kInputWait);
    for (const auto& [from, to] : {std::pair{0.0, 10.0}, {10.5, 20.0}, {25.0, 30.0}, {59.0, 60.0}, {200.0, 999.0}})
      add_kernel(device.rank(), begin + from, begin + to);
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  const auto& launch = seen->gap_ns[static_cast<std::size_t>(Idle::kLaunch)];
  EXPECT_EQ(launch, (std::array<double, 4>{ms(1), ms(12), ms(58), 0})) << "the last gap of the window is 1 ms long";
  EXPECT_EQ(seen->gap_ns[static_cast<std::size_t>(Idle::kInputWait)], (std::array<double, 4>{0, 0, 0, ms(280)}));
}

TEST(GpuEvidence, CollectivesThatComputingCoversAreFree) {
  Device device(50, 4);
  const std::string name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  const wire::NameId id = wire::name_id(name.data(), name.size());
  device.run.names[id] = name;
  add_window(device.rank(), 0, 100);
  for (double begin : {0.0, 50.0}) {
    add_kernel(device.rank(), begin, begin + 20);
    add_kernel(device.rank(), begin + 15, begin + 30);
    device.rank().kernels.back().record.name = id;
  }
  const auto seen = device.evidence();
  ASSERT_TRUE(seen);
  EXPECT_DOUBLE_EQ(seen->compute_ns, ms(40));
  EXPECT_DOUBLE_EQ(seen->collective_ns, ms(20));
}

}  // namespace
}  // namespace fullbore::diagnose
