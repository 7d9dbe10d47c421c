#include "observe/samplers/cgroup_paths.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kV2Mount = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* kV2Controllers = "cpuset cpu io memory pids\n";

TEST(CgroupPathsTest, V2NamesTheGroupAndItsAncestorsNearestFirst) {
  const base::InMemoryFiles files(Texts{{"/proc/7/cgroup", "0::/slurm/job_1/step\n"},
                                        {"/proc/self/mountinfo", kV2Mount},
                                        {"/sys/fs/cgroup/cgroup.controllers", kV2Controllers}});
  const CgroupPaths paths = find_cgroups(files, 7);
  ASSERT_TRUE(paths.cpu && paths.cpuset && paths.memory && paths.io);
  EXPECT_EQ(paths.cpu->version, 2);
  EXPECT_THAT(paths.cpu->directories, ElementsAre("/sys/fs/cgroup/slurm/job_1/step", "/sys/fs/cgroup/slurm/job_1",
                                                  "/sys/fs/cgroup/slurm", "/sys/fs/cgroup"));
}

TEST(CgroupPathsTest, HybridTakesEachControllerWhereItIs) {
  const base::InMemoryFiles files(
      Texts{{"/proc/7/cgroup", "4:memory:/job\n2:cpuacct,cpu:/\n1:name=systemd:/\n0::/unified_job\n"},
            {"/proc/self/mountinfo",
             "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
            {"/sys/fs/cgroup/unified/cgroup.controllers", "io\n"}});
  const CgroupPaths paths = find_cgroups(files, 7);
  ASSERT_TRUE(paths.cpu && paths.memory && paths.io);
  EXPECT_EQ(paths.cpu->version, 1);
  EXPECT_THAT(paths.cpu->directories, ElementsAre("/sys/fs/cgroup/cpu"));
  EXPECT_THAT(paths.memory->directories, ElementsAre("/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"));
  EXPECT_EQ(paths.io->version, 2);
  EXPECT_EQ(paths.io->own(), "/sys/fs/cgroup/unified/unified_job");
  EXPECT_FALSE(paths.cpuset);
  EXPECT_THAT(paths.why, HasSubstr("neither mounted"));
}

TEST(CgroupPathsTest, AContainersMountShowsOnlyItsPart) {
  const base::InMemoryFiles files(
      Texts{{"/proc/7/cgroup", "4:memory:/docker/ab12/job\n"},
            {"/proc/self/mountinfo", "35 31 0:32 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"}});
  EXPECT_THAT(find_cgroups(files, 7).memory->directories,
              ElementsAre("/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"));
}

TEST(CgroupPathsTest, AGroupOutsideOfTheNamespaceIsSeenAsTheMountedRoot) {
  const base::InMemoryFiles files(Texts{{"/proc/7/cgroup", "0::/../../other\n"},
                                        {"/proc/self/mountinfo", kV2Mount},
                                        {"/sys/fs/cgroup/cgroup.controllers", kV2Controllers}});
  EXPECT_THAT(find_cgroups(files, 7).cpu->directories, ElementsAre("/sys/fs/cgroup"));
}

TEST(CgroupPathsTest, AProcessThatEndedIsNamed) {
  const base::InMemoryFiles files(Texts{{"/proc/self/mountinfo", kV2Mount}});
  const CgroupPaths paths = find_cgroups(files, 7);
  EXPECT_FALSE(paths.cpu || paths.unified);
  EXPECT_THAT(paths.why, HasSubstr("/proc/7/cgroup"));
}

TEST(CgroupPathsTest, GarbageFindsNothing) {
  for (const char* text : {"", ":", "::", "0:", "x\ny:z\n", "4:memory"}) {
    const base::InMemoryFiles files(Texts{{"/proc/7/cgroup", text}, {"/proc/self/mountinfo", text}});
    const CgroupPaths paths = find_cgroups(files, 7);
    EXPECT_FALSE(paths.cpu || paths.cpuset || paths.memory || paths.io) << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
