// Pressure stall information of the host: how long tasks stood still for want of CPU, I/O or memory.
#pragma once

#include <optional>
#include <string_view>

#include "base/file_reader.h"
#include "observe/sampler.h"

namespace fullbore::observe {

class PressureSampler final : public Sampler {
 public:
  explicit PressureSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "pressure"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  const base::FileReader& files_;
};

struct Stalls {
  std::optional<double> some_s;
  std::optional<double> full_s;
};

// The totals of a pressure file; of the host's or of a control group.
Stalls parse_stalls(std::string_view text);

}  // namespace fullbore::observe
