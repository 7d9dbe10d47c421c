// /proc/PID/mountinfo: which file system a path lies on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullbore::observe {

struct Mount {
  std::string device;  // "254:0"; "0:N" for file systems without a block device, and for btrfs
  std::string root;    // what of the file system is mounted, "/" for all of it
  std::string point;
  std::string options;
  std::string type;
  std::string source;  // "/dev/vda1", "server:/export"
  std::string super_options;
};

// Malformed lines are left out.
std::vector<Mount> parse_mounts(std::string_view mountinfo);

// The mount that a path without symbolic links lies on, or nullptr.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);

}  // namespace fullbore::observe
