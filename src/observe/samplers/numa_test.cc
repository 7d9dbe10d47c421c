#include "observe/samplers/numa.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::IsEmpty;
using testing::Optional;

std::string stat(int pid, int parent, int core) {
  return std::to_string(pid) + " (pt (x) y) S " + std::to_string(parent) +
         " 1 1 0 -1 0 1 0 0 0 5 5 0 0 20 0 1 0 500 0 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 " +
         std::to_string(core) + " 0 0 0 0 0\n";
}

// Two nodes of two cores each, a third of memory only; a trainer with one worker, and a program that is neither.
base::InMemoryFiles two_nodes() {
  return base::InMemoryFiles(Texts{{"/sys/devices/system/node/node0/cpulist", "0,2\n"},
                                   {"/sys/devices/system/node/node1/cpulist", "1,3\n"},
                                   {"/sys/devices/system/node/node2/cpulist", "\n"},
                                   {"/sys/devices/system/node/online", "0-2\n"},
                                   {"/proc/7/stat", stat(7, 1, 3)},
                                   {"/proc/7/status", "Name:\tpython\nCpus_allowed_list:\t1,3\n"},
                                   {"/proc/8/stat", stat(8, 7, 2)},
                                   {"/proc/9/stat", stat(9, 8, 2)}});
}

const ProcessTree kTree{7, {7, 8, 9}, {7}, {}};

TEST(NumaTest, CountsWhereTrainersAndTheirWorkersRun) {
  base::InMemoryFiles files = two_nodes();
  NumaSampler sampler(files);
  RecordedReadings out;
  sampler.sample(kTree, 0, out);
  sampler.sample(kTree, 1, out);
  files.set("/proc/7/stat", stat(7, 1, 0));
  sampler.sample(kTree, 2, out);
  EXPECT_THAT(out.value("numa.looks", "trainer/7/1"), Optional(2.0));
  EXPECT_THAT(out.value("numa.looks", "trainer/7/0"), Optional(1.0));
  EXPECT_THAT(out.value("numa.looks", "children/7/0"), Optional(3.0));
  EXPECT_FALSE(out.value("numa.looks", "children/8/0")) << "no child of a trainer";
  EXPECT_THAT(out.value("numa.cores", "1/1,3"), Optional(2.0));
}

TEST(NumaTest, AMaskWithinOneNodeIsTold) {
  base::InMemoryFiles files = two_nodes();
  RecordedReadings out;
  NumaSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("numa.bound_to", "7"), Optional(1.0));
  files.set("/proc/7/status", "Name:\tpython\nCpus_allowed_list:\t0-3\n");
  NumaSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.value("numa.bound_to", "7"), Optional(-1.0));
}

TEST(NumaTest, AMachineOfOneNodeIsNotLookedAt) {
  base::InMemoryFiles files = two_nodes();
  files.remove("/sys/devices/system/node/node1/cpulist");
  RecordedReadings out;
  NumaSampler(files).sample(kTree, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  NumaSampler(base::InMemoryFiles(Texts{})).sample(kTree, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
}

TEST(NumaTest, TextsCutShortAreNoCore) {
  const std::string whole = stat(7, 1, 3);
  const auto last_core = [](const std::string& text) {
    const auto stat = parse_task_stat(text);
    return stat ? stat->core : std::nullopt;
  };
  EXPECT_THAT(last_core(whole), Optional(3));
  for (std::size_t length = 0; length < whole.find(" 3 0 0 0 0 0\n"); ++length) {
    EXPECT_FALSE(last_core(whole.substr(0, length))) << length;
  }
  EXPECT_FALSE(last_core(""));
}

}  // namespace
}  // namespace fullbore::observe
