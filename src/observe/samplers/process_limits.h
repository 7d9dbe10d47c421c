// The resource limits (ulimit) and the niceness that the watched command was started with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_reader.h"
#include "observe/sampler.h"

namespace fullbore::observe {

// Reports once: limits of a running process hardly ever change.
class ProcessLimitsSampler final : public Sampler {
 public:
  explicit ProcessLimitsSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "limits"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  const base::FileReader& files_;
  bool done_ = false;
};

struct SoftLimit {
  std::optional<std::uint64_t> value;  // absent: unlimited
};

// The line of that name ("Max open files") in /proc/PID/limits; nothing if it is not there.
std::optional<SoftLimit> soft_limit(std::string_view limits, std::string_view name);

}  // namespace fullbore::observe
