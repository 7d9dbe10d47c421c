// What the watched tree itself read and wrote: bytes asked for against bytes that really came from a device. The host's
// counters alone would blame this job for a neighbour's reads.
#pragma once

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/tree_sum.h"

namespace fullbore::observe {

class TreeIoSampler final : public Sampler {
 public:
  explicit TreeIoSampler(const base::FileReader& files) : files_(files) {}
  std::string_view name() const override { return "tree_io"; }
  std::int64_t period_ns() const override { return 200'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  // False if the process could not be read.
  bool add(std::uint32_t pid, Readings& out);

  const base::FileReader& files_;
  TreeSum sum_;
  bool measured_ = false;
};

}  // namespace fullbore::observe
