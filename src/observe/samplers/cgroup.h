// What the control groups of the watched command allow it, and how often they stopped it.
#pragma once

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/cgroup_paths.h"

namespace fullbore::observe {

// Of the root process of the tree, not of ourselves. When that has ended, its last known groups go on being read.
class CgroupSampler final : public Sampler {
 public:
  explicit CgroupSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "cgroup"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void find(std::uint32_t root_pid, std::int64_t now_ns);
  void sample_cpu(Readings& out);
  void sample_memory(Readings& out);
  void sample_io(Readings& out);
  void sample_pressure(Readings& out);

  const base::FileReader& files_;
  CgroupPaths paths_;
  std::int64_t find_due_ns_ = 0;
};

}  // namespace fullbore::observe
