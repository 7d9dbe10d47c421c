// The threads of the tree: run-queue delay, switches and states of all of them once in a while, and the important few
// more often. Reading every thread ten times a second would cost more than the whole budget of the collector.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/interpreter_lock.h"
#include "observe/samplers/task_stat.h"
#include "observe/samplers/tree_sum.h"

namespace fullbore::observe {

struct LiveProcess {
  std::uint32_t pid = 0;
  TaskStat stat;
  std::string_view role;  // what it is to the tree: "trainer", "worker", "main", or "" if nothing of note
};

// Sets every process's role.
void assign_roles(const ProcessTree& tree, std::vector<LiveProcess>& alive);

class ThreadSweep {
 public:
  explicit ThreadSweep(const base::FileReader& files) : files_(files), lock_(files) {}
  // `with_important`: report the important threads in this round.
  void sample(const ProcessTree& tree, const std::vector<LiveProcess>& alive, std::int64_t now_ns, bool with_important,
              Readings& out);

 private:
  struct Important {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::string label;
  };
  struct Looks {
    double all = 0, waiting = 0;
  };
  struct States {
    double threads = 0, runnable = 0, blocked = 0;
    double workers = 0, of_workers = 0;  // processes, their threads
  };

  void sweep(const std::vector<LiveProcess>& alive, Readings& out);
  void read_thread(std::uint32_t pid, std::string_view tid, bool is_helper, States& states, Readings& out);
  void remember(std::string_view role, std::uint32_t pid, std::uint32_t tid);
  void look_for_lock(const Important& thread, Readings& out);
  void report(const Important& thread, const std::vector<LiveProcess>& alive, Readings& out);

  const base::FileReader& files_;
  InterpreterLock lock_;
  std::map<std::string, Looks> looks_;  // by label
  TreeSum sum_;                         // per thread: run-queue ns, voluntary, involuntary switches
  TreeSum helpers_;                     // per thread of a worker that is not its main one: CPU ns, run-queue ns
  std::vector<Important> important_;    // refreshed by each sweep
  std::int64_t due_ns_ = 0;
  bool measured_ = false;
};

}  // namespace fullbore::observe
