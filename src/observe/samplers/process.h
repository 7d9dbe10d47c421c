// The watched process tree: CPU time, faults, resident size, and the threads that matter for feeding.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/task_stat.h"
#include "observe/samplers/thread_sweep.h"
#include "observe/samplers/tree_sum.h"

namespace fullbore::observe {

// Every round reads one file per process; important threads are read every second round, all threads once a second.
class ProcessSampler final : public Sampler {
 public:
  explicit ProcessSampler(const base::FileReader& files) : files_(files), sweep_(files) {}
  std::string_view name() const override { return "process"; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void read_processes(const ProcessTree& tree, Readings& out);
  void report_tree(Readings& out);
  void report_workers(Readings& out);
  void report_sizes(Readings& out);
  void report_share_of_memory(Readings& out);

  const base::FileReader& files_;
  TreeSum sum_;
  TreeSum workers_;  // loader workers: CPU ticks, those in the kernel, minor faults; kept when one ends
  bool workers_seen_ = false;
  std::vector<LiveProcess> alive_;
  ThreadSweep sweep_;
  bool measured_ = false;
  std::uint64_t round_ = 0;
  std::int64_t sizes_due_ns_ = 0;
  std::size_t next_share_ = 0;
};

}  // namespace fullbore::observe
