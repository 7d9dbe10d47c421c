// All samplers together over the stored /proc and /sys trees of tests/root, whose README says what each world is.
#include <gmock/gmock.h>

#include <string>

#include "observe/limits.h"
#include "observe/samplers/all_samplers.h"
#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::DoubleEq;
using testing::HasSubstr;
using testing::Optional;

constexpr double kMiB = 1024.0 * 1024;
constexpr double kGiB = 1024 * kMiB;

std::string root_of(const std::string& world) {
  return std::string(FULLBORE_SOURCE_DIR) + "/tests/root/" + world;
}

RecordedReadings sample_world(const std::string& world, const ProcessTree& tree) {
  const base::RealFiles files(root_of(world));
  RecordedReadings out;
  for (const auto& sampler : make_samplers(files)) sampler->sample(tree, 0, out);
  return out;
}

TEST(FixtureRootsTest, V1HybridContainerKnowsItsLimits) {
  const auto out = sample_world("v1-hybrid-container", {100, {100, 110}, {100}, {"/data/train/a.jpg"}});
  EXPECT_THAT(out.value("cgroup.cpu_quota_cores"), Optional(0.5));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_periods"), Optional(60.0));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_s"), Optional(4.5));
  EXPECT_THAT(out.value("cgroup.cpuset_cores"), Optional(2.0));
  EXPECT_THAT(out.value("cgroup.memory_limit_bytes"), Optional(4 * kGiB));
  EXPECT_THAT(out.value("cgroup.memory_file_bytes"), Optional(2 * kGiB));
  EXPECT_THAT(out.value("cgroup.oom_kills"), Optional(1.0));
  EXPECT_THAT(out.value("cgroup.io_read_limit_bytes_per_s", "vda"), Optional(20 * kMiB));
  EXPECT_THAT(out.value("cgroup.limited", "io"), Optional(1.0));
  EXPECT_THAT(out.value("cpu.online_cores"), Optional(4.0));
  EXPECT_THAT(out.value("cpu.affinity_cores"), Optional(2.0));
  EXPECT_THAT(out.value("cpu.usable_cores"), Optional(0.5));
}

TEST(FixtureRootsTest, V1HybridContainerFindsTheDiskBelowABindMount) {
  const auto out = sample_world("v1-hybrid-container", {100, {100, 110}, {100}, {"/data/train/a.jpg"}});
  EXPECT_THAT(out.value("mount.type", "ext4"), Optional(1.0));
  EXPECT_THAT(out.value("mount.device", "vda"), Optional(1.0));
  EXPECT_THAT(out.value("disk.reads", "vda"), Optional(31771.0));
  EXPECT_THAT(out.value("disk.reads", "host"), Optional(31771.0));
  EXPECT_THAT(out.value("disk.rotational", "vda"), Optional(0.0));
  EXPECT_EQ(out.why("disk"), "");
}

TEST(FixtureRootsTest, V1HybridContainerTellsItsThreadsApart) {
  const auto out = sample_world("v1-hybrid-container", {100, {100, 110}, {100}, {}});
  EXPECT_THAT(out.value("tree.cpu_s"), Optional(DoubleEq(90.2)));
  EXPECT_THAT(out.value("tree.runq_s"), Optional(4.0));
  EXPECT_THAT(out.value("tree.threads"), Optional(3.0));
  EXPECT_THAT(out.value("thread.runq_s", "trainer/100/100"), Optional(2.5));
  EXPECT_THAT(out.value("thread.state", "pin/100/107"), Optional(2.0));
  EXPECT_THAT(out.value("thread.state", "worker/110/110"), Optional(3.0));
  EXPECT_THAT(out.value("tree.read_bytes"), Optional(2 * 8192000.0));
}

TEST(FixtureRootsTest, V2NestedTakesTheTightestAncestor) {
  const auto out = sample_world("v2-nested-nfs", {100, {100}, {}, {"/datasets/imagenet/a.jpg"}});
  EXPECT_THAT(out.value("cgroup.cpu_quota_cores"), Optional(1.5));
  EXPECT_THAT(out.value("cgroup.cpu_throttled_s"), Optional(42.0));
  EXPECT_THAT(out.value("cgroup.memory_limit_bytes"), Optional(8 * kGiB));
  EXPECT_THAT(out.value("cgroup.memory_bytes"), Optional(4 * kGiB));
  EXPECT_THAT(out.value("cgroup.io_read_limit_iops", "vda"), Optional(500.0));
  EXPECT_THAT(out.value("cgroup.pressure_full_s", "io"), Optional(3.278496));
  EXPECT_THAT(out.value("cpu.usable_cores"), Optional(1.5));
}

TEST(FixtureRootsTest, NfsHasATypeButNoDisk) {
  const auto out = sample_world("v2-nested-nfs", {100, {100}, {}, {"/datasets/imagenet/a.jpg"}});
  EXPECT_THAT(out.value("mount.type", "nfs4"), Optional(1.0));
  EXPECT_THAT(out.value("mount.point", "/datasets"), Optional(1.0));
  EXPECT_THAT(out.why("disk"), HasSubstr("filer:/export/datasets"));
  EXPECT_TRUE(out.value("disk.reads", "host"));
}

TEST(FixtureRootsTest, AContainerWithoutLimitsIsKnownToHaveNone) {
  const auto out = sample_world("v2-container-overlay", {100, {100}, {}, {"/app/data/a.jpg"}});
  for (const char* resource : {"cpu", "memory", "io"}) {
    EXPECT_THAT(out.value("cgroup.limited", resource), Optional(0.0)) << resource;
  }
  EXPECT_FALSE(out.value("cgroup.cpu_quota_cores"));
  EXPECT_FALSE(out.value("cgroup.memory_limit_bytes"));
  EXPECT_THAT(out.value("cgroup.memory_bytes"), Optional(kMiB));
  EXPECT_THAT(out.value("cpu.usable_cores"), Optional(4.0));
}

TEST(FixtureRootsTest, OverlayAndAbsentPressureAreNamed) {
  const auto out = sample_world("v2-container-overlay", {100, {100}, {}, {"/app/data/a.jpg"}});
  EXPECT_THAT(out.why("disk"), HasSubstr("overlay"));
  EXPECT_THAT(out.why("pressure"), HasSubstr("CONFIG_PSI"));
  EXPECT_FALSE(out.value("pressure.some_s", "io"));
}

TEST(FixtureRootsTest, AHiddenTreeLosesItsOwnSignalsAndKeepsTheHosts) {
  const auto out = sample_world("hidepid", {100, {100}, {}, {"/data/a.jpg"}});
  EXPECT_FALSE(out.value("tree.cpu_s"));
  EXPECT_FALSE(out.value("tree.read_bytes"));
  EXPECT_FALSE(out.value("cpu.usable_cores"));
  EXPECT_THAT(out.why("tree"), HasSubstr("hidepid"));
  EXPECT_THAT(out.why("cgroup.cpu"), HasSubstr("/proc/100/cgroup"));
  EXPECT_THAT(out.value("cpu.busy_s", "total"), Optional(DoubleEq(395)));
  EXPECT_THAT(out.value("mount.type", "ext4"), Optional(1.0));
}

TEST(FixtureRootsTest, LimitsForFixStayWithinTheJob) {
  const base::RealFiles files(root_of("v2-nested-nfs"));
  const UsableLimits limits = read_limits(files, 100);
  EXPECT_DOUBLE_EQ(limits.usable_cores, 1.5);
  EXPECT_EQ(limits.affinity_cores, 4);
  // 8 GiB less the 1 GiB that is not page cache.
  EXPECT_THAT(limits.memory_available, Optional(static_cast<std::uint64_t>(7 * kGiB)));
}

}  // namespace
}  // namespace fullbore::observe
