// What loader workers run out of: /dev/shm, through which batches are handed over, and file descriptors.
#pragma once

#include <utility>

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/file_space.h"

namespace fullbore::observe {

class ShmSampler final : public Sampler {
 public:
  explicit ShmSampler(const base::FileReader& files, SpaceOf space_of = file_space)
      : files_(files), space_of_(std::move(space_of)) {}
  std::string_view name() const override { return "shm"; }
  std::int64_t period_ns() const override { return 1'000'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void sample_files(std::uint32_t pid, Readings& out);

  const base::FileReader& files_;
  SpaceOf space_of_;
};

}  // namespace fullbore::observe
