// The disks below the data files, and all physical disks of the host together to tell a neighbour's I/O from ours.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"
#include "observe/samplers/data_mounts.h"

namespace fullbore::observe {

class DiskSampler final : public Sampler {
 public:
  explicit DiskSampler(const base::FileReader& files) : files_(files), data_(files) {}
  std::string_view name() const override { return "disk"; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  void report_mounts(Readings& out);
  void report_rotational(Readings& out);
  bool is_physical(std::string_view device);

  const base::FileReader& files_;
  DataMounts data_;
  std::vector<std::string> disks_;  // below the data files, each once
  std::unordered_map<std::string, bool> physical_;
};

}  // namespace fullbore::observe
