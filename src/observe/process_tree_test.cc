#include "observe/process_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace fullbore::observe {
namespace {

using Texts = std::map<std::string, std::string>;

using ::testing::ElementsAre;

std::string stat_line(int pid, int parent, int start, char state = 'S', const char* name = "python") {
  return fmt::format("{} ({}) {} {} 77 77 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 {} 1000 10\n", pid, name, state, parent,
                     start);
}

void put(base::InMemoryFiles& files, int pid, int parent, int start, const char* children) {
  files.set(fmt::format("/proc/{}/stat", pid), stat_line(pid, parent, start));
  files.set(fmt::format("/proc/{}/task/{}/stat", pid, pid), stat_line(pid, parent, start));
  if (children != nullptr) files.set(fmt::format("/proc/{}/task/{}/children", pid, pid), children);
}

void end(base::InMemoryFiles& files, int pid) {
  files.remove(fmt::format("/proc/{}/stat", pid));
  files.remove(fmt::format("/proc/{}/task/{}/stat", pid, pid));
  files.remove(fmt::format("/proc/{}/task/{}/children", pid, pid));
}

TEST(ReadProcessStat, TakesFieldsAfterANameWithBlanksAndParentheses) {
  base::InMemoryFiles files(Texts{{"/proc/5/stat", stat_line(5, 3, 4242, 'R', "a) b (c")}});
  const auto stat = read_process_stat(files, 5);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent_pid, 3u);
  EXPECT_EQ(stat->group, 77u);
  EXPECT_EQ(stat->start_ticks, 4242u);
}

TEST(ReadProcessStat, RefusesALineCutShort) {
  base::InMemoryFiles files(Texts{{"/proc/5/stat", "5 (python) S 3 77"}});
  EXPECT_FALSE(read_process_stat(files, 5));
  EXPECT_FALSE(read_process_stat(files, 6));
}

TEST(ProcessTracker, FindsGrandchildren) {
  base::InMemoryFiles files({});
  put(files, 10, 1, 100, "20 ");
  put(files, 20, 10, 110, "15 30 ");
  put(files, 15, 20, 120, "");
  put(files, 30, 20, 120, "");
  ProcessTracker tracker(files, 10);
  tracker.refresh();
  EXPECT_THAT(tracker.pids(), ElementsAre(10, 15, 20, 30));
}

TEST(ProcessTracker, KeepsAGrandchildWhoseParentEnded) {
  base::InMemoryFiles files({});
  put(files, 10, 1, 100, "20 ");
  put(files, 20, 10, 110, "30 ");
  put(files, 30, 20, 120, "");
  ProcessTracker tracker(files, 10);
  tracker.refresh();
  end(files, 20);
  put(files, 10, 1, 100, "");
  put(files, 30, 1, 120, "");
  tracker.refresh();
  EXPECT_THAT(tracker.pids(), ElementsAre(10, 30));
}

TEST(ProcessTracker, ForgetsAPidThatWasReused) {
  base::InMemoryFiles files({});
  put(files, 10, 1, 100, "20 ");
  put(files, 20, 10, 110, "");
  ProcessTracker tracker(files, 10);
  tracker.refresh();
  put(files, 10, 1, 100, "");
  put(files, 20, 1, 999, "");
  tracker.refresh();
  EXPECT_THAT(tracker.pids(), ElementsAre(10));
}

TEST(ProcessTracker, ScansWhenTheKernelListsNoChildren) {
  base::InMemoryFiles files({});
  put(files, 10, 1, 100, nullptr);
  put(files, 20, 10, 110, nullptr);
  put(files, 30, 20, 120, nullptr);
  put(files, 40, 1, 120, nullptr);
  ProcessTracker tracker(files, 10);
  tracker.refresh();
  EXPECT_THAT(tracker.pids(), ElementsAre(10, 20, 30));
}

TEST(ProcessTracker, AcceptsAProcessKnownByItsRing) {
  base::InMemoryFiles files({});
  put(files, 10, 1, 100, "");
  put(files, 50, 1, 300, "");
  ProcessTracker tracker(files, 10);
  tracker.add(50);
  tracker.refresh();
  EXPECT_THAT(tracker.pids(), ElementsAre(10, 50));
}

}  // namespace
}  // namespace fullbore::observe
