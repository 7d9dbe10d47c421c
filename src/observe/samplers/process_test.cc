#include "observe/samplers/process.h"

#include <gmock/gmock.h>

#include "observe/samplers/denying_files.h"
#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr std::int64_t kSecond = 1'000'000'000;

struct Task {
  int pid = 7;
  int parent = 1;
  std::string name = "python";
  char state = 'S';
  int user = 0, system = 0, children_user = 0, minor = 0, faults = 0, start = 500, pages = 100;
};

std::string stat(const Task& t) {
  return std::to_string(t.pid) + " (" + t.name + ") " + t.state + " " + std::to_string(t.parent) + " 0 0 0 -1 0 " +
         std::to_string(t.minor) + " 0 " + std::to_string(t.faults) + " 0 " + std::to_string(t.user) + " " +
         std::to_string(t.system) + " " + std::to_string(t.children_user) + " 0 20 0 1 0 " + std::to_string(t.start) +
         " 0 " + std::to_string(t.pages) + " 0\n";
}

void put_thread(base::InMemoryFiles& files, int pid, const Task& thread, const std::string& schedstat,
                int switches = 0) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread.pid) + "/";
  files.set(folder + "stat", stat(thread));
  files.set(folder + "schedstat", schedstat);
  files.set(folder + "status", "Name:\t" + thread.name + "\nState:\t" + thread.state +
                                   " (in words)\nvoluntary_ctxt_switches:\t" + std::to_string(switches) +
                                   "\nnonvoluntary_ctxt_switches:\t" + std::to_string(2 * switches) + "\n");
}

void put_process(base::InMemoryFiles& files, const Task& task,
                 const std::string& schedstat = "2000000000 500000000 9\n") {
  files.set("/proc/" + std::to_string(task.pid) + "/stat", stat(task));
  put_thread(files, task.pid, task, schedstat);
}

void end_process(base::InMemoryFiles& files, int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  files.remove(folder + "/stat");
  for (const char* name : {"stat", "schedstat", "status"}) {
    files.remove(folder + "/task/" + std::to_string(pid) + "/" + name);
  }
}

TEST(ProcessTest, SumsCpuTimeFaultsAndSizeOfTheTree) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.user = 150, .system = 50, .faults = 3});
  put_process(files, {.pid = 8, .parent = 7, .user = 100, .pages = 50});
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7, 8}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("tree.cpu_s"), Optional(3.0));
  EXPECT_THAT(out.value("tree.cpu_system_s"), Optional(0.5));
  EXPECT_THAT(out.value("tree.major_faults"), Optional(3.0));
  EXPECT_THAT(out.value("tree.rss_bytes"), Optional(150 * 4096.0));
  EXPECT_THAT(out.value("tree.processes"), Optional(2.0));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(ProcessTest, AFinishedWorkersTimeIsCountedOnceBeforeAndAfterItIsWaitedFor) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.user = 100});
  put_process(files, {.pid = 8, .parent = 7, .user = 300});
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7, 8}, {}, {}}, 0, out);
  end_process(files, 8);
  sampler.sample({7, {7, 8}, {}, {}}, 1, out);
  EXPECT_THAT(out.value("tree.cpu_s"), Optional(4.0));
  put_process(files, {.user = 100, .children_user = 310});
  sampler.sample({7, {7}, {}, {}}, 2, out);
  EXPECT_THAT(out.value("tree.cpu_s"), Optional(4.1));
}

TEST(ProcessTest, SumsTheRunQueueDelayOfAllThreadsAndKeepsEndedOnes) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {}, "1000000000 250000000 9\n");
  put_thread(files, 7, {.pid = 9, .name = "omp", .state = 'D'}, "0 750000000 1\n", 10);
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("tree.runq_s"), Optional(1.0));
  EXPECT_THAT(out.value("tree.voluntary_switches"), Optional(10.0));
  EXPECT_THAT(out.value("tree.involuntary_switches"), Optional(20.0));
  EXPECT_THAT(out.value("tree.threads"), Optional(2.0));
  EXPECT_THAT(out.value("tree.threads_blocked"), Optional(1.0));
  for (const char* name : {"stat", "schedstat", "status"}) files.remove(std::string("/proc/7/task/9/") + name);
  sampler.sample({7, {7}, {}, {}}, kSecond, out);
  EXPECT_THAT(out.value("tree.runq_s"), Optional(1.0));
  EXPECT_THAT(out.value("tree.threads"), Optional(1.0));
}

TEST(ProcessTest, ThreadsAreSweptOnceASecond) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {});
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7}, {}, {}}, 0, out);
  out.clear();
  sampler.sample({7, {7}, {}, {}}, kSecond - 1, out);
  EXPECT_FALSE(out.value("tree.threads"));
  sampler.sample({7, {7}, {}, {}}, kSecond, out);
  EXPECT_TRUE(out.value("tree.threads"));
}

TEST(ProcessTest, TrainerPinBackwardAndWorkerThreadsAreReportedByRole) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.state = 'R'});
  put_thread(files, 7, {.pid = 9, .name = "pt_data_pin"}, "3000000000 0 1\n");
  put_thread(files, 7, {.pid = 8, .name = "pt_autograd_0"}, "4000000000 1000000000 1\n");
  put_process(files, {.pid = 10, .parent = 7, .name = "pt_data_worker", .state = 'D'});
  put_process(files, {.pid = 11, .parent = 7, .name = "python"});
  put_process(files, {.pid = 12, .parent = 7, .name = "git"});
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7, 10, 11, 12}, {7}, {}}, 0, out);
  EXPECT_THAT(out.value("thread.cpu_s", "trainer/7/7"), Optional(2.0));
  EXPECT_THAT(out.value("thread.runq_s", "trainer/7/7"), Optional(0.5));
  EXPECT_THAT(out.value("thread.state", "trainer/7/7"), Optional(1.0));
  EXPECT_THAT(out.value("thread.cpu_s", "pin/7/9"), Optional(3.0));
  EXPECT_THAT(out.value("thread.state", "pin/7/9"), Optional(2.0));
  EXPECT_THAT(out.value("thread.runq_s", "backward/7/8"), Optional(1.0));
  EXPECT_THAT(out.value("thread.state", "worker/10/10"), Optional(3.0));
  EXPECT_TRUE(out.value("thread.state", "worker/11/11"));
  EXPECT_FALSE(out.value("thread.state", "worker/12/12"));
}

TEST(ProcessTest, ThreadsOfLibrariesInWorkersAreSummedApart) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {});
  put_process(files, {.pid = 10, .parent = 7, .name = "pt_data_worker"});
  put_thread(files, 10, {.pid = 11, .name = "pt_data_worker"}, "3000000000 1000000000 1\n");
  put_thread(files, 10, {.pid = 12, .name = "pt_data_worker"}, "2000000000 500000000 1\n");
  put_thread(files, 7, {.pid = 8, .name = "python"}, "9000000000 9000000000 1\n");
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7, 10}, {7}, {}}, 0, out);
  EXPECT_THAT(out.value("workers.threads"), Optional(3.0));
  EXPECT_THAT(out.value("workers.helper_cpu_s"), Optional(5.0));
  EXPECT_THAT(out.value("workers.helper_runq_s"), Optional(1.5));
}

TEST(ProcessTest, WorkersAreSummedApartAndKeptWhenTheyEnd) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.user = 900, .minor = 9000});
  put_process(files, {.pid = 10, .parent = 7, .name = "pt_data_worker", .user = 100, .system = 50, .minor = 4000});
  put_process(files, {.pid = 11, .parent = 7, .name = "pt_data_worker", .user = 20, .system = 30, .minor = 1000});
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7, 10, 11}, {7}, {}}, 0, out);
  EXPECT_THAT(out.value("workers.cpu_s"), Optional(2.0));
  EXPECT_THAT(out.value("workers.cpu_system_s"), Optional(0.8));
  EXPECT_THAT(out.value("workers.minor_faults"), Optional(5000.0));
  end_process(files, 11);
  sampler.sample({7, {7, 10}, {7}, {}}, kSecond, out);
  EXPECT_THAT(out.value("workers.minor_faults"), Optional(5000.0));
}

TEST(ProcessTest, ATreeWithoutWorkersSaysNothingOfThem) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.user = 900, .minor = 9000});
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7}, {7}, {}}, 0, out);
  EXPECT_FALSE(out.value("workers.cpu_s"));
  EXPECT_FALSE(out.value("workers.minor_faults"));
}

TEST(ProcessTest, WithoutTheHookMainThreadsAreReportedAsSuch) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.name = "a.out"});
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("thread.cpu_s", "main/7/7"), Optional(2.0));
}

TEST(ProcessTest, SharedMemoryIsReadFromOneProcessAtATime) {
  base::InMemoryFiles files(
      Texts{{"/proc/7/smaps_rollup", "x [rollup]\nRss: 9 kB\nPss:                 282 kB\nPss_Dirty: 1 kB\n"},
            {"/proc/8/smaps_rollup", "Pss: 10 kB\n"}});
  put_process(files, {});
  put_process(files, {.pid = 8, .parent = 7});
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7, 8}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("process.pss_bytes", "7"), Optional(282 * 1024.0));
  EXPECT_FALSE(out.value("process.pss_bytes", "8"));
  sampler.sample({7, {7, 8}, {}, {}}, 10 * kSecond, out);
  EXPECT_THAT(out.value("process.pss_bytes", "8"), Optional(10 * 1024.0));
}

TEST(ProcessTest, ALargeProcessIsNotWalked) {
  base::InMemoryFiles files(Texts{{"/proc/7/smaps_rollup", "Pss: 282 kB\n"}});
  put_process(files, {.pages = 300'000});
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_FALSE(out.value("process.pss_bytes", "7"));
}

TEST(ProcessTest, AHiddenTreeIsMissingNotZero) {
  RecordedReadings out;
  ProcessSampler(base::InMemoryFiles(Texts{})).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  EXPECT_THAT(out.why("tree"), AllOf(HasSubstr("/proc/7/stat"), HasSubstr("hidepid")));
}

TEST(ProcessTest, TheEndOfTheTreeIsNoFailure) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {.user = 100});
  RecordedReadings out;
  ProcessSampler sampler(files);
  sampler.sample({7, {7}, {}, {}}, 0, out);
  end_process(files, 7);
  sampler.sample({7, {7}, {}, {}}, 1, out);
  EXPECT_THAT(out.value("tree.cpu_s"), Optional(1.0));
  EXPECT_THAT(out.value("tree.processes"), Optional(0.0));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(ProcessTest, AKernelWithoutSchedstatStillCountsThreads) {
  base::InMemoryFiles files(Texts{});
  put_process(files, {});
  files.remove("/proc/7/task/7/schedstat");
  RecordedReadings out;
  ProcessSampler(files).sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("tree.threads"), Optional(1.0));
  EXPECT_FALSE(out.value("tree.runq_s"));
  EXPECT_THAT(out.why("tree.runq_s"), HasSubstr("schedstat"));
}

TEST(ProcessTest, GarbageIsMissingNotZero) {
  for (const char* text :
       {"", "7 (python", "7 (python) S", "7 (python) S x y z 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}) {
    base::InMemoryFiles files(Texts{{"/proc/7/stat", text}, {"/proc/7/task/x/stat", text}});
    RecordedReadings out;
    ProcessSampler(files).sample({7, {7}, {}, {}}, 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
    EXPECT_NE(out.why("tree"), "") << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
