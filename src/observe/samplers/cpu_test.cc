#include "observe/samplers/cpu.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr std::int64_t kSecond = 1'000'000'000;
const ProcessTree kTree{7, {7}, {}, {}};

// Three cores with `busy` ticks each.
std::string stat(int busy0, int busy1, int busy2) {
  const int sum = busy0 + busy1 + busy2;
  auto line = [](const std::string& name, int busy) {
    return name + " " + std::to_string(busy) + " 10 20 1000 30 1 2 40 5 0\n";
  };
  return line("cpu ", sum) + line("cpu0", busy0) + line("cpu1", busy1) + line("cpu2", busy2) + "intr 9 9\nctxt 5\n";
}

base::InMemoryFiles machine() {
  return base::InMemoryFiles(
      Texts{{"/proc/stat", stat(100, 200, 300)},
            {"/proc/7/status", "Name:\tpython\nCpus_allowed_list:\t0-1\n"},
            {"/proc/7/cgroup", "1:cpu:/job\n"},
            {"/proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"},
            {"/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n"},
            {"/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}});
}

TEST(CpuTest, TicksOfTheHostAreSeconds) {
  const auto files = machine();
  RecordedReadings out;
  CpuSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("cpu.busy_s", "total"), Optional(DoubleEq(6.33)));  // user nice system irq softirq
  EXPECT_THAT(out.value("cpu.idle_s", "total"), Optional(10.0));
  EXPECT_THAT(out.value("cpu.iowait_s", "total"), Optional(0.3));
  EXPECT_THAT(out.value("cpu.steal_s", "total"), Optional(0.4));
  EXPECT_THAT(out.value("cpu.busy_s", "2"), Optional(DoubleEq(3.33)));
  EXPECT_THAT(out.value("cpu.online_cores"), Optional(3.0));
}

TEST(CpuTest, UsableCoresAreTheLeastOfAffinityAndQuota) {
  auto files = machine();
  RecordedReadings out;
  CpuSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("cpu.affinity_cores"), Optional(2.0));
  EXPECT_THAT(out.value("cpu.usable_cores"), Optional(1.5));
  files.set("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  CpuSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("cpu.usable_cores"), Optional(2.0));
}

TEST(CpuTest, BusyTimeOfUsableCoresIsCountedFromTheFirstSample) {
  auto files = machine();
  RecordedReadings out;
  CpuSampler sampler(files);
  sampler.sample(kTree, 0, out);
  EXPECT_THAT(out.value("cpu.usable_busy_s"), Optional(0.0));
  files.set("/proc/stat", stat(150, 250, 900));
  sampler.sample(kTree, kSecond / 5, out);
  EXPECT_THAT(out.value("cpu.usable_busy_s"), Optional(DoubleNear(1.0, 1e-9)));
}

TEST(CpuTest, UsableBusyTimeDoesNotJumpWhenTheAffinityChanges) {
  auto files = machine();
  RecordedReadings out;
  CpuSampler sampler(files);
  sampler.sample(kTree, 0, out);
  files.set("/proc/7/status", "Name:\tpython\nCpus_allowed_list:\t2\n");
  files.set("/proc/stat", stat(150, 250, 400));
  sampler.sample(kTree, kSecond, out);
  EXPECT_THAT(out.value("cpu.usable_busy_s"), Optional(DoubleNear(1.0, 1e-9)));
}

TEST(CpuTest, SingleCoresAreReportedOnceASecond) {
  const auto files = machine();
  RecordedReadings out;
  CpuSampler sampler(files);
  sampler.sample(kTree, 0, out);
  out.clear();
  sampler.sample(kTree, kSecond / 5, out);
  EXPECT_TRUE(out.value("cpu.busy_s", "total"));
  EXPECT_FALSE(out.value("cpu.busy_s", "0"));
}

TEST(CpuTest, AnUnknownAffinityIsNamed) {
  auto files = machine();
  files.remove("/proc/7/status");
  RecordedReadings out;
  CpuSampler(files).sample(kTree, 0, out);
  EXPECT_FALSE(out.value("cpu.usable_busy_s"));
  EXPECT_THAT(out.why("cpu.affinity_cores"), HasSubstr("/proc/7/status"));
}

TEST(CpuTest, GarbageIsMissingNotZero) {
  for (const char* text : {"", "cpu", "cpu 1 2 3\ncpu0 1 2 3\n", "intr 1\n", "cpu a b c d e f g h\n"}) {
    base::InMemoryFiles files(Texts{{"/proc/stat", text}});
    RecordedReadings out;
    CpuSampler(files).sample(kTree, 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
    EXPECT_NE(out.why("cpu"), "") << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
