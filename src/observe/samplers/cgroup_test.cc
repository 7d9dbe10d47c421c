#include "observe/samplers/cgroup.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const ProcessTree kTree{7, {7}, {}, {}};

base::InMemoryFiles v2_job() {
  return base::InMemoryFiles(
      Texts{{"/proc/7/cgroup", "0::/job\n"},
            {"/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
            {"/sys/fs/cgroup/cgroup.controllers", "cpu io memory\n"},
            {"/sys/fs/cgroup/job/cpu.max", "150000 100000\n"},
            {"/sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nnr_periods 40\nnr_throttled 10\nthrottled_usec 2500000\n"},
            {"/sys/fs/cgroup/job/memory.max", "max\n"},
            {"/sys/fs/cgroup/job/memory.current", "4096\n"},
            {"/sys/fs/cgroup/job/io.max", "254:0 rbps=1048576 wbps=max riops=max wiops=max\n"},
            {"/sys/fs/cgroup/job/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n"}},
      {{"/sys/dev/block/254:0", "../../devices/pci0000:00/virtio1/block/vda"}});
}

TEST(CgroupTest, ReportsQuotaThrottlingAndLimits) {
  const auto files = v2_job();
  RecordedReadings out;
  CgroupSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("cgroup.limited", "cpu"), Optional(1.0));
  EXPECT_THAT(out.value("cgroup.cpu_quota_cores"), Optional(1.5));
  EXPECT_THAT(out.value("cgroup.cpu_periods"), Optional(40.0));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_periods"), Optional(10.0));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_s"), Optional(2.5));
  EXPECT_THAT(out.value("cgroup.io_read_limit_bytes_per_s", "vda"), Optional(1048576.0));
  EXPECT_FALSE(out.value("cgroup.io_write_limit_bytes_per_s", "vda"));
  EXPECT_THAT(out.value("cgroup.pressure_some_s", "io"), Optional(1.5));
}

TEST(CgroupTest, WithoutALimitThatIsSaidAndTheLimitIsAbsent) {
  const auto files = v2_job();
  RecordedReadings out;
  CgroupSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("cgroup.limited", "memory"), Optional(0.0));
  EXPECT_FALSE(out.value("cgroup.memory_limit_bytes"));
  EXPECT_THAT(out.value("cgroup.memory_bytes"), Optional(4096.0));
}

TEST(CgroupTest, GroupsAreKnownAfterTheRootProcessHasEnded) {
  auto files = v2_job();
  RecordedReadings out;
  CgroupSampler sampler(files);
  sampler.sample(kTree, 0, out);
  files.remove("/proc/7/cgroup");
  out.clear();
  sampler.sample(kTree, 60'000'000'000, out);
  EXPECT_THAT(out.value("cgroup.cpu_quota_cores"), Optional(1.5));
}

TEST(CgroupTest, AMoveToAnotherGroupIsFollowed) {
  auto files = v2_job();
  RecordedReadings out;
  CgroupSampler sampler(files);
  sampler.sample(kTree, 0, out);
  files.set("/proc/7/cgroup", "0::/\n");
  sampler.sample(kTree, 60'000'000'000, out);
  EXPECT_THAT(out.value("cgroup.limited", "cpu"), Optional(0.0));
}

TEST(CgroupTest, AMachineWithoutControlGroupsNamesEachSignal) {
  RecordedReadings out;
  CgroupSampler(base::InMemoryFiles(Texts{{"/proc/7/cgroup", ""}, {"/proc/self/mountinfo", ""}})).sample(kTree, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  for (const char* signal : {"cgroup.cpu", "cgroup.memory", "cgroup.io", "cgroup.pressure"}) {
    EXPECT_NE(out.why(signal), "") << signal;
  }
}

TEST(CgroupTest, AQuotaWhoseThrottlingCannotBeReadSaysSo) {
  auto files = v2_job();
  files.remove("/sys/fs/cgroup/job/cpu.stat");
  RecordedReadings out;
  CgroupSampler(files).sample(kTree, 0, out);
  EXPECT_FALSE(out.value("cgroup.cpu_throttled_s"));
  EXPECT_THAT(out.why("cgroup.cpu_throttled_s"), HasSubstr("cpu.stat"));
}

}  // namespace
}  // namespace fullbore::observe
