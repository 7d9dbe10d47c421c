// On which NUMA node the job runs, where the machine has several: memory lies on the node of the thread that first
// writes it, and a GPU reads what lies on the other one more slowly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/task_stat.h"

namespace fullbore::observe {

// Two files per trainer and one per worker, once a second; on a machine of one node a folder, once.
class NumaSampler final : public Sampler {
 public:
  explicit NumaSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "numa"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void start(Readings& out);
  // Adds a look at where that task is; `label` without the node.
  void look(const TaskStat& stat, const std::string& label, Readings& out);
  void look_at_mask(std::uint32_t pid, Readings& out);

  const base::FileReader& files_;
  bool started_ = false;
  std::map<int, int> node_of_;  // by core; empty where there is one node, or it is not known
  std::map<std::string, double> looks_;
};

}  // namespace fullbore::observe
