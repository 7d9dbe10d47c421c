// What keeps a GPU waiting for launches: the loop's own work, a wait for a value, or a thread that is not running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

struct Launched {
  double busy_ms = 10;                           // of each step, kernels run, in pieces
  double waited_ms = 0;                          // of the thread for the device, at the end of the step
  double queued_ms = 0;                          // of the thread for a core
  double backward_cpu = 0, backward_queued = 0;  // seconds per second of the thread that runs the backward pass
  bool lock = false;                             // the thread waits for the interpreter's lock when it does not run
  double body_cpu_ms = 50;
};

// Steps of 50 ms without a wait for input, ten of them in a window, each with 100 kernels.
record::Run launched(const Launched& launched) {
  testing::RunBuilder builder;
  testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.device = "cuda:0";
  simulate_into(builder, simulation);
  record::RankRecords& rank = builder.rank();
  for (auto& next : rank.nexts) {
    next.record.loop_cpu_ns = testing::ms(launched.body_cpu_ms);
    next.record.loop_runq_ns = testing::ms(launched.queued_ms);
  }
  const double first = static_cast<double>(rank.nexts[60].record.begin_ns) / 1e6;
  const double last = static_cast<double>(rank.nexts[70].record.begin_ns) / 1e6;
  testing::add_window(rank, first, last);
  const double step = (last - first) / 10, active = step - launched.waited_ms;
  for (int i = 0; i < 10; ++i) {
    const double begin = first + step * i;
    for (int kernel = 0; kernel < 100; ++kernel) {
      const double at = begin + active * kernel / 100;
      testing::add_kernel(rank, at, at + launched.busy_ms / 100);
    }
    if (launched.waited_ms > 0) testing::add_wait(rank, begin + active, begin + step - 0.001);
  }
  const std::int64_t end_ns = rank.nexts.back().record.end_ns;
  const auto thread = std::to_string(testing::kTrainerPid);
  builder.counter("thread.runq_s", launched.backward_queued, end_ns, "backward/" + thread + "/7");
  builder.counter("thread.cpu_s", launched.backward_cpu, end_ns, "backward/" + thread + "/7");
  builder.counter("thread.lock_looks", 10, end_ns, "trainer/" + thread + "/" + thread);
  builder.counter("thread.lock_waits", launched.lock ? 6 : 0, end_ns, "trainer/" + thread + "/" + thread);
  return builder.take();
}

TEST(LaunchBound, IsAThreadThatIsAlwaysAtItAndAGpuThatIsNot) {
  const Diagnosis d = diagnose(launched({}));
  EXPECT_EQ(d.verdict.cause, "launch_bound") << d.verdict.summary;
  EXPECT_NEAR(d.causes[0].share, 0.8, 0.03);
  EXPECT_THAT(d.verdict.summary, HasSubstr("100 kernels"));
  EXPECT_NEAR(d.account.parts.at("launch").share, 0.8, 0.03);
}

TEST(LaunchBound, IsNotABusyGpu) {
  const Diagnosis d = diagnose(launched({.busy_ms = 48}));
  EXPECT_EQ(d.verdict.cause, "compute_bound") << d.verdict.summary;
}

// 20 ms of own work and 25 of kernels: launched ahead they would overlap.
TEST(HostSync, IsAGpuThatRunsDryAfterTheWait) {
  const Diagnosis d = diagnose(launched({.busy_ms = 25, .waited_ms = 30}));
  EXPECT_EQ(d.verdict.cause, "host_sync") << d.verdict.summary;
  EXPECT_THAT(d.causes, Not(Contains(Field(&Cause::cause, "launch_bound"))));
  EXPECT_THAT(d.verdict.summary, HasSubstr("runs dry"));
}

TEST(HostSync, IsNotBlamedForWorkThatWouldRemain) {
  const Diagnosis d = diagnose(launched({.busy_ms = 5, .waited_ms = 3}));
  EXPECT_EQ(d.verdict.cause, "launch_bound") << d.verdict.summary;
}

TEST(LauncherStarved, IsAThreadThatHasNoCore) {
  // Of 50 ms it runs 25; launched in these, 15 would remain beyond the 10 of the kernels.
  const Diagnosis d = diagnose(launched({.queued_ms = 25, .body_cpu_ms = 25}));
  EXPECT_EQ(d.verdict.cause, "launcher_starved") << d.verdict.summary;
  EXPECT_NEAR(d.causes[0].share, 0.5, 0.03);
  EXPECT_THAT(d.verdict.summary, HasSubstr("has no core"));
  EXPECT_THAT(d.causes, Not(Contains(Field(&Cause::cause, "launch_bound")))) << "first things first";
}

TEST(LauncherStarved, ALittleComesAfterLaunching) {
  const Diagnosis d = diagnose(launched({.queued_ms = 8, .body_cpu_ms = 42}));
  EXPECT_EQ(d.verdict.cause, "launch_bound") << d.verdict.summary;
  EXPECT_THAT(d.causes, Contains(Field(&Cause::cause, "launcher_starved")));
}

TEST(LauncherStarved, LeavesNothingToLaunchingThatWouldBeFastEnough) {
  const Diagnosis d = diagnose(launched({.busy_ms = 20, .queued_ms = 35, .body_cpu_ms = 15}));
  EXPECT_EQ(d.verdict.cause, "launcher_starved") << d.verdict.summary;
  EXPECT_THAT(d.causes, Not(Contains(Field(&Cause::cause, "launch_bound"))));
}

TEST(LauncherStarved, CountsTheThreadThatRunsTheBackwardPass) {
  const Diagnosis d = diagnose(launched({.backward_queued = 0.6, .body_cpu_ms = 15}));
  EXPECT_EQ(d.verdict.cause, "launcher_starved") << d.verdict.summary;
}

TEST(LauncherStarved, IsAThreadThatWaitsForTheLock) {
  const Diagnosis d = diagnose(launched({.lock = true, .body_cpu_ms = 15}));
  EXPECT_EQ(d.verdict.cause, "launcher_starved") << d.verdict.summary;
  EXPECT_THAT(d.verdict.summary, HasSubstr("interpreter lock"));
}

TEST(LauncherStarved, IsNotAThreadThatSleeps) {
  const Diagnosis d = diagnose(launched({.body_cpu_ms = 2}));
  EXPECT_EQ(d.verdict.cause, "compute_bound") << d.verdict.summary;
  EXPECT_THAT(d.verdict.summary, HasSubstr("at something else"));
}

TEST(LaunchBound, CountsTheThreadThatRunsTheBackwardPass) {
  EXPECT_EQ(diagnose(launched({.backward_cpu = 0.7, .body_cpu_ms = 15})).verdict.cause, "launch_bound");
}

TEST(LauncherStarved, CostsNothingWhereTheGpuIsBusy) {
  const Diagnosis d = diagnose(launched({.busy_ms = 49, .queued_ms = 35, .body_cpu_ms = 15}));
  EXPECT_EQ(d.verdict.cause, "compute_bound") << d.verdict.summary;
}

}  // namespace
}  // namespace fullbore::diagnose
