#include "observe/samplers/cgroup_limits.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

const Hierarchy kV2{2, {"/c/job/step", "/c/job", "/c"}};
const Hierarchy kV1{1, {"/c/job", "/c"}};

TEST(CgroupLimitsTest, TheTightestQuotaOfAllAncestorsBinds) {
  const base::InMemoryFiles files(
      Texts{{"/c/job/step/cpu.max", "max 100000\n"}, {"/c/job/cpu.max", "150000 100000\n"}});
  const auto quota = tightest_cpu_quota(files, kV2);
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->cores, 1.5);
  EXPECT_EQ(quota->directory, "/c/job");
}

TEST(CgroupLimitsTest, AQuotaOfV1IsReadFromTwoFiles) {
  const base::InMemoryFiles files(Texts{{"/c/job/cpu.cfs_quota_us", "50000\n"},
                                        {"/c/job/cpu.cfs_period_us", "100000\n"},
                                        {"/c/cpu.cfs_quota_us", "-1\n"},
                                        {"/c/cpu.cfs_period_us", "100000\n"}});
  EXPECT_DOUBLE_EQ(tightest_cpu_quota(files, kV1)->cores, 0.5);
}

TEST(CgroupLimitsTest, WithoutAQuotaThereIsNone) {
  EXPECT_FALSE(tightest_cpu_quota(base::InMemoryFiles(Texts{{"/c/job/cpu.max", "max 100000\n"}}), kV2));
  EXPECT_FALSE(tightest_cpu_quota(base::InMemoryFiles(Texts{{"/c/job/cpu.cfs_quota_us", "-1\n"}}), kV1));
}

TEST(CgroupLimitsTest, GarbageSetsNoQuota) {
  for (const char* text : {"", "\n", "max", "0 0", "150000", "150000 0", "-1 -1", "x y"}) {
    const base::InMemoryFiles files(Texts{{"/c/job/cpu.max", text}});
    EXPECT_FALSE(tightest_cpu_quota(files, kV2)) << text;
  }
}

TEST(CgroupLimitsTest, AnEmptyOwnCpusetIsInherited) {
  const base::InMemoryFiles files(Texts{{"/c/job/cpuset.cpus", "\n"}, {"/c/cpuset.cpus.effective", "0-3,8\n"}});
  EXPECT_THAT(cpuset_cores(files, kV2), Optional(ElementsAre(0, 1, 2, 3, 8)));
  EXPECT_FALSE(cpuset_cores(base::InMemoryFiles(Texts{}), kV2));
}

TEST(CgroupLimitsTest, TheLowestMemoryLimitIsTaken) {
  const base::InMemoryFiles files(Texts{{"/c/job/step/memory.max", "max\n"},
                                        {"/c/job/step/memory.current", "1\n"},
                                        {"/c/job/memory.max", "2000\n"},
                                        {"/c/job/memory.high", "1800\n"},
                                        {"/c/job/memory.current", "1500\n"},
                                        {"/c/job/memory.stat", "anon 900\nfile 600\nworkingset_refault_file 4\n"},
                                        {"/c/job/memory.events", "low 0\noom 2\noom_kill 1\n"}});
  const MemoryUse use = tightest_memory(files, kV2);
  EXPECT_THAT(use.limit_bytes, Optional(1800u));
  EXPECT_THAT(use.used_bytes, Optional(1500u));
  EXPECT_THAT(use.anon_bytes, Optional(900u));
  EXPECT_THAT(use.refault_file, Optional(4u));
  EXPECT_THAT(use.oom_kills, Optional(1u));
  // What is page cache is given back.
  EXPECT_THAT(memory_headroom(files, kV2), Optional(900u));
}

TEST(CgroupLimitsTest, TheLargestNumberOfV1MeansUnlimited) {
  const base::InMemoryFiles files(
      Texts{{"/c/job/memory.limit_in_bytes", "9223372036854771712\n"},
            {"/c/job/memory.usage_in_bytes", "1000\n"},
            {"/c/job/memory.stat", "cache 1\ntotal_cache 600\ntotal_rss 300\n"},
            {"/c/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"}});
  const MemoryUse use = tightest_memory(files, kV1);
  EXPECT_FALSE(use.limit_bytes);
  EXPECT_THAT(use.used_bytes, Optional(1000u));
  EXPECT_THAT(use.file_bytes, Optional(600u));
  EXPECT_THAT(use.oom_kills, Optional(3u));
  EXPECT_FALSE(memory_headroom(files, kV1));
}

TEST(CgroupLimitsTest, IoLimitsOfAllAncestorsAreMerged) {
  const base::InMemoryFiles files(Texts{
      {"/c/job/step/io.max", "254:0 rbps=max wbps=max riops=500 wiops=max\n"},
      {"/c/job/io.max", "254:0 rbps=20971520 wbps=max riops=800 wiops=max\n8:0 rbps=1 wbps=2 riops=3 wiops=4\n"}});
  const auto limits = tightest_io_limits(files, kV2);
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_THAT(limits.at("254:0").read_bytes, Optional(20971520u));
  EXPECT_THAT(limits.at("254:0").read_requests, Optional(500u));
  EXPECT_FALSE(limits.at("254:0").write_bytes);
  EXPECT_THAT(limits.at("8:0").write_requests, Optional(4u));
}

TEST(CgroupLimitsTest, IoLimitsOfV1AreOneFilePerKind) {
  const base::InMemoryFiles files(Texts{{"/c/job/blkio.throttle.read_bps_device", "254:0 20971520\n"},
                                        {"/c/job/blkio.throttle.write_iops_device", "\n"}});
  const auto limits = tightest_io_limits(files, kV1);
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_THAT(limits.at("254:0").read_bytes, Optional(20971520u));
}

TEST(CgroupLimitsTest, GarbageSetsNoIoLimit) {
  for (const char* text : {"", "254:0", "254:0 rbps", "254:0 rbps= wbps=x", "\n\n", "254:0 rbps=max"}) {
    EXPECT_THAT(tightest_io_limits(base::InMemoryFiles(Texts{{"/c/job/io.max", text}}), kV2), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
