// The cores of the host: how busy they are, and which of them the watched tree may use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"

namespace fullbore::observe {

class CpuSampler final : public Sampler {
 public:
  explicit CpuSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "cpu"; }
  // The kernel counts in ticks of 10 ms and adds up all interrupts for this file, about 1 ms on a large host.
  std::int64_t period_ns() const override { return 200'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void sample_usable(const ProcessTree& tree, Readings& out);
  void add_usable_busy(const std::map<int, double>& busy_s);

  const base::FileReader& files_;
  std::optional<std::vector<int>> usable_;  // that the tree may run on
  std::map<int, double> busy_before_;
  double usable_busy_s_ = 0;
  std::int64_t slow_due_ns_ = 0;
};

}  // namespace fullbore::observe
