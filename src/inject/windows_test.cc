// What windows record, what they leave alone, and what they cost: against a fake libcupti.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "inject/testing/traced_child.h"
#include "inject/window_end.h"
#include "inject/window_plan.h"

namespace fullbore::inject {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(InjectTest, RecordsEveryCopyOfAWindowWithItsMemoryAndMonotonicTimes) {
  const std::int64_t before = now_ns();
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->copy(kPageable, 1 << 20, at, at + 80'000);
      loaded.cupti->copy(kPinned, 1 << 21, at + 100'000, at + 140'000);
    });
  });
  EXPECT_EQ(status, 0);
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(copies[0].source, wire::MemoryKind::kPageable);
  EXPECT_EQ(copies[0].kind, wire::CopyKind::kHostToDevice);
  EXPECT_EQ(copies[0].bytes, 1 << 20);
  EXPECT_EQ(copies[0].end_ns - copies[0].begin_ns, 80'000);
  EXPECT_EQ(copies[1].source, wire::MemoryKind::kPinned);
  EXPECT_GT(copies[0].begin_ns, before);
  EXPECT_LT(copies[0].begin_ns, now_ns());
  EXPECT_TRUE(closed_);
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(InjectTest, AStepOfTheDevicesClockBetweenWindowsIsFollowed) {
  in_child([] {
    const Loaded loaded;
    const auto copy = [&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->copy(kPinned, 64, at, at + 1000);
    };
    loaded.in_window(copy);
    loaded.cupti->set_clock_offset(2'000'000'000'000'000);
    loaded.another_window(copy);
  });
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  for (const auto& copy : copies) EXPECT_LT(std::abs(now_ns() - copy.begin_ns), 10'000'000'000);
  const auto pairs = all<wire::ClockPairRecord>();
  EXPECT_GE(pairs.size(), 4u);
  for (const auto& pair : pairs) EXPECT_LT(pair.residual_ns, 1'000'000);
}

TEST_F(InjectTest, KernelsAndTheirLaunchCallsAreRecordedInWindowsOnly) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->launch_call(7, at, at + 3000);
      loaded.cupti->kernel("_Z4gemmv", 7, at + 5000, at + 9000);
    });
    loaded.cupti->kernel("_Z5laterv", 8, loaded.cupti->now(), loaded.cupti->now() + 9000);
  });
  const auto kernels = all<wire::KernelRecord>();
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(text(kernels[0].name), "_Z4gemmv");
  const auto calls = all<wire::LaunchCallRecord>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].correlation, kernels[0].correlation);
  EXPECT_EQ(calls[0].kind, wire::CallKind::kKernel);
  EXPECT_LE(calls[0].begin_ns, kernels[0].begin_ns);
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].kernels, 1u);
  EXPECT_EQ(windows[0].dropped, 0u);
  EXPECT_GE(windows[0].cost_ns, 4000);
  EXPECT_EQ(text(windows[0].tier), "kernels");
}

TEST_F(InjectTest, BetweenWindowsCuptiIsOutOfTheProcess) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([] {});
    if (loaded.cupti->finalized() != 1 || loaded.cupti->finalized_outside_calls() != 0) std::exit(5);
    if (loaded.cupti->subscriptions_held() != 0) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, CuptiStaysWhileNoThreadLeavesACall) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens() || !loaded.window_closes()) std::exit(3);
    if (!loaded.eventually([&] { return loaded.cupti->subscriptions_held() == 1; })) std::exit(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    if (loaded.cupti->finalized() != 0 || loaded.cupti->is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) std::exit(5);
    loaded.cupti->leave_call();
    if (loaded.cupti->finalized() != 1) std::exit(6);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, WhatRunsOnAfterAWindowIsWaitedFor) {
  in_child([] {
    const Loaded loaded;
    loaded.initialize();
    if (!loaded.window_opens()) std::exit(3);
    loaded.cupti->hold_buffer(true);
    loaded.cupti->kernel("k", 1, 1000, 2000);
    if (!loaded.window_closes()) std::exit(4);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (loaded.cupti->subscriptions_held() != 0) std::exit(5);
    loaded.cupti->end_kernel("k", 3000, 4000);
    loaded.cupti->hold_buffer(false);
    if (!loaded.window_is_over()) std::exit(6);
  });
  EXPECT_THAT(all<wire::KernelRecord>(), SizeIs(2));
}

TEST_F(InjectTest, AKernelWithoutEndIsGivenUp) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      loaded.cupti->hold_buffer(true);
      loaded.cupti->kernel("k", 1, 1000, 0);
    });
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  ASSERT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_EQ(all<wire::TraceWindowRecord>()[0].dropped, 1u);
}

TEST_F(InjectTest, AWindowThatFillsEndsEarlyAndSoonTheNextOneIsFarOff) {
  setenv("FULLBORE_RING_BYTES", "16777216", 1);
  in_child([] {
    const Loaded loaded;
    loaded.initialize();
    for (int window = 0; window < 4; ++window) {
      loaded.another_window([&] {
        const std::uint64_t at = loaded.cupti->now();
        for (std::uint32_t i = 0; i < 12'000; ++i) loaded.cupti->kernel("k", i, at + i, at + i + 1);
      });
    }
  });
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(3)) << "the fourth is put off by more than the five seconds that are waited";
  EXPECT_GE(windows[0].kernels, 4000u);
  EXPECT_LT(windows[0].end_ns - windows[0].begin_ns, WindowEnd::kShortest_ns);
}

// The loop of a program, past its warm-up.
wire::LoopCounters& counted_loop() {
  static wire::LoopCounters counters;
  counters.iterations = 10;
  return counters;
}

void wait_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST_F(InjectTest, WhereIterationsAreCountedAWindowWaitsForWholeOnes) {
  const int status = in_child([] {
    const Loaded loaded;
    wire::LoopCounters& loop = counted_loop();
    loaded.count(&loop);
    loaded.in_window([&] {
      for (std::uint32_t step = 1; step <= 4; ++step) {
        wait_ms(300);
        if (!loaded.cupti->is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) std::exit(5);
        ++loop.iterations;
        const std::uint64_t at = loaded.cupti->now();
        loaded.cupti->kernel("k", step, at, at + 1000);
      }
      wait_ms(300);
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->kernel("k", 5, at, at + 1000);
    });
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].kernels, 5u);
  EXPECT_GT(windows[0].end_ns - windows[0].begin_ns, 1'200'000'000);
}

TEST_F(InjectTest, BeforeTheTenthIterationNothingIsTraced) {
  const int status = in_child([] {
    const Loaded loaded;
    wire::LoopCounters& loop = counted_loop();
    loop.iterations = 9;
    loaded.count(&loop);
    loaded.initialize();
    wait_ms(1200);
    if (loaded.cupti->is_attached()) std::exit(3);
    loop.iterations = 10;
    if (!loaded.window_opens()) std::exit(4);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(InjectTest, EachSecondOfALongWindowHasItsOwnSingleCopies) {
  setenv("FULLBORE_RING_BYTES", "16777216", 1);
  const int status = in_child([] {
    const Loaded loaded;
    wire::LoopCounters& loop = counted_loop();
    loaded.count(&loop);
    loaded.in_window([&] {
      for (int second = 0; second < 2; ++second) {
        const std::uint64_t at = loaded.cupti->now();
        for (std::uint64_t i = 0; i < 4200; ++i) loaded.cupti->copy(kPageable, 100, at + 10 * i, at + 10 * i + 4);
        wait_ms(1500);
      }
      loop.iterations += 5;
    });
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  const auto copies = all<wire::CopyRecord>();
  EXPECT_THAT(copies, SizeIs(2 * 4001));
  std::uint64_t count = 0;
  for (const auto& copy : copies) count += copy.count;
  EXPECT_EQ(count, 8400u);
}

TEST_F(InjectTest, AProgramThatOnlyWaitsCannotFillTheRunFolder) {
  setenv("FULLBORE_RING_BYTES", "16777216", 1);
  const int status = in_child([] {
    const Loaded loaded;
    wire::LoopCounters& loop = counted_loop();
    loaded.count(&loop);
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      for (std::uint64_t i = 0; i < WindowPlan::kMostKernels; ++i) loaded.cupti->wait(at + i, at + i + 1);
    });
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_THAT(all<wire::SyncRecord>(), SizeIs(WindowPlan::kMostKernels));
}

TEST_F(InjectTest, ARingThatNobodyReadsEndsTheWindowBeforeRecordsAreLost) {
  setenv("FULLBORE_RING_BYTES", "65536", 1);
  const int status = in_child([] {
    const Loaded loaded;
    wire::LoopCounters& loop = counted_loop();
    loaded.count(&loop);
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      for (std::uint32_t i = 0; i < 800; ++i) loaded.cupti->kernel("k", i, at + i, at + i + 1);
    });
    wait_ms(1500);
    if (loaded.cupti->is_attached()) std::exit(5);
  });
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  const auto windows = all<wire::TraceWindowRecord>();
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].kernels, 800u);
  EXPECT_EQ(windows[0].dropped, 0u);
  EXPECT_LT(windows[0].end_ns - windows[0].begin_ns, WindowEnd::kShortest_ns);
}

TEST_F(InjectTest, WhatTheDriverSaysItsTracingCostIsReportedAndCounted) {
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, at, at + 400'000'000);
      loaded.cupti->overhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, at, at + 900'000'000);
    });
  });
  const auto overheads = all<wire::TraceOverheadRecord>();
  ASSERT_THAT(overheads, SizeIs(2));
  EXPECT_EQ(overheads[1].kind, 6u);
  EXPECT_EQ(overheads[1].busy_ns, 900'000'000);
  ASSERT_THAT(all<wire::TraceWindowRecord>(), SizeIs(1));
  EXPECT_GE(all<wire::TraceWindowRecord>()[0].cost_ns, 400'000'000);
  EXPECT_LT(all<wire::TraceWindowRecord>()[0].cost_ns, 900'000'000) << "a full launch queue is not our doing";
}

TEST_F(InjectTest, RecordsOfUnknownKindsAndCutBuffersLeaveTheRestWhole) {
  const int status = in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      loaded.cupti->cut_next_buffer(sizeof(CUpti_ActivityMemcpy6) - 4);
      loaded.cupti->copy(kPinned, 1, at, at + 1);
      loaded.cupti->record_of_unknown_kind();
      loaded.cupti->copy(kPinned, 2, at, at + 1);
      loaded.cupti->copy(kPinned, 3, at, at + 1);
    });
  });
  EXPECT_EQ(status, 0);
  const auto copies = all<wire::CopyRecord>();
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(copies[1].bytes, 2);
}

TEST_F(InjectTest, ThousandsOfCopiesAreSummedByKind) {
  setenv("FULLBORE_RING_BYTES", "16777216", 1);
  in_child([] {
    const Loaded loaded;
    loaded.in_window([&] {
      const std::uint64_t at = loaded.cupti->now();
      for (std::uint64_t i = 0; i < 10'000; ++i) loaded.cupti->copy(kPageable, 100, at + 10 * i, at + 10 * i + 4);
    });
  });
  const auto copies = all<wire::CopyRecord>();
  EXPECT_LT(copies.size(), 6000u);
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t busy_ns = 0;
  for (const auto& copy : copies) {
    count += copy.count;
    bytes += copy.bytes;
    busy_ns += copy.busy_ns;
  }
  EXPECT_EQ(count, 10'000u);
  EXPECT_EQ(bytes, 1'000'000);
  EXPECT_EQ(busy_ns, 40'000);
}

}  // namespace
}  // namespace fullbore::inject
