#include "observe/limits.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

base::Expected<FileSpace> space(const std::string&) {
  return FileSpace{100, 64};
}

base::InMemoryFiles container() {
  return base::InMemoryFiles(Texts{{"/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n"},
                                   {"/proc/self/cgroup", "0::/\n"},
                                   {"/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
                                   {"/proc/meminfo", "MemAvailable: 1000 kB\n"},
                                   {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n"},
                                   {"/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"},
                                   {"/sys/fs/cgroup/cpu.max", "250000 100000\n"},
                                   {"/sys/fs/cgroup/memory.max", "600000\n"},
                                   {"/sys/fs/cgroup/memory.current", "500000\n"},
                                   {"/sys/fs/cgroup/memory.stat", "anon 200000\nfile 300000\n"}});
}

TEST(LimitsTest, TheTightestOfEachKindIsUsable) {
  auto files = container();
  UsableLimits limits = read_limits(files, 0, space);
  EXPECT_DOUBLE_EQ(limits.usable_cores, 2.5);
  EXPECT_THAT(limits.quota_cores, Optional(2.5));
  EXPECT_EQ(limits.affinity_cores, 8);
  EXPECT_THAT(limits.shm_free, Optional(64u));
  EXPECT_THAT(limits.memory_available, Optional(400'000u));
  EXPECT_THAT(limits.why, IsEmpty());
  files.set("/sys/fs/cgroup/cpu.max", "max 100000\n");
  files.set("/sys/fs/cgroup/memory.max", "max\n");
  limits = read_limits(files, 0, space);
  EXPECT_DOUBLE_EQ(limits.usable_cores, 4);
  EXPECT_FALSE(limits.quota_cores);
  EXPECT_THAT(limits.memory_available, Optional(1'024'000u));
}

TEST(LimitsTest, WhatIsNotKnownIsNamed) {
  const UsableLimits limits = read_limits(base::InMemoryFiles(Texts{}), 0, [](const std::string& path) {
    return base::Expected<FileSpace>(base::fail(path));
  });
  EXPECT_DOUBLE_EQ(limits.usable_cores, 1);
  EXPECT_FALSE(limits.quota_cores || limits.shm_free || limits.memory_available);
  EXPECT_THAT(limits.why, Contains(HasSubstr("one is assumed")));
  EXPECT_THAT(limits.why, Contains(HasSubstr("shared memory")));
  EXPECT_THAT(limits.why, Contains(HasSubstr("/proc/meminfo")));
}

TEST(LimitsTest, ThisMachineIsReadable) {
  const UsableLimits limits = read_limits(base::RealFiles(), 0);
  EXPECT_GE(limits.usable_cores, 0.01);
  EXPECT_GE(limits.affinity_cores, 1);
  EXPECT_TRUE(limits.memory_available);
}

}  // namespace
}  // namespace fullbore::observe
