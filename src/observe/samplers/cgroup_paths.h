// Where the control groups of a process are mounted: v1, v2, or both side by side, inside a container or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.h"

namespace fullbore::observe {

// The group of one controller: its own directory first, then each ancestor up to the root that is mounted here. A
// limit of any of them binds.
struct Hierarchy {
  int version = 2;
  std::vector<std::string> directories;

  const std::string& own() const { return directories.front(); }
};

// A controller that is absent is named in `why`.
struct CgroupPaths {
  std::optional<Hierarchy> cpu, cpuset, memory, io;
  std::optional<Hierarchy> unified;  // v2, whatever its controllers
  std::string why;
};

// `pid` 0 is the reader itself. Paths are those of the reader's own mounts.
CgroupPaths find_cgroups(const base::FileReader& files, std::uint32_t pid);

}  // namespace fullbore::observe
