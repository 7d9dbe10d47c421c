// Where the data files lie: mount, file system and the disks below, looked up once per path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_reader.h"
#include "observe/samplers/mounts.h"

namespace fullbore::observe {

// `disks`: the device, then its members (see disks_below); empty if the file system has no block device.
struct DataMount {
  Mount mount;
  std::vector<std::string> disks;
  int paths = 0;
};

class DataMounts {
 public:
  explicit DataMounts(const base::FileReader& files) : files_(files) {}
  // Looks up the paths not seen before, as process `pid` sees them. True if there was one.
  bool update(const std::vector<std::string>& paths, std::uint32_t pid);
  const std::vector<DataMount>& mounts() const { return mounts_; }
  // Why the last path could not be placed, or "".
  const std::string& why() const { return why_; }

 private:
  void place(const std::string& path, std::uint32_t pid);
  std::string resolved(const std::string& path, std::uint32_t pid) const;
  std::vector<std::string> disks_of(const Mount& mount) const;

  const base::FileReader& files_;
  std::vector<DataMount> mounts_;
  std::vector<std::string> seen_;
  std::string why_;
};

}  // namespace fullbore::observe
