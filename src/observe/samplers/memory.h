// Memory of the host: what is left, how much is page cache, whether it swaps or reads evicted pages again.
#pragma once

#include "base/file_reader.h"
#include "observe/sampler.h"

namespace fullbore::observe {

class MemorySampler final : public Sampler {
 public:
  explicit MemorySampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "memory"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  const base::FileReader& files_;
};

}  // namespace fullbore::observe
