// Size and free space of a file system, handed in as a function so that tests need no mount.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"

namespace fullbore::observe {

struct FileSpace {
  std::uint64_t size_bytes = 0;
  std::uint64_t free_bytes = 0;  // for unprivileged users
};

using SpaceOf = std::function<base::Expected<FileSpace>(const std::string& path)>;

// statvfs(3).
base::Expected<FileSpace> file_space(const std::string& path);

// /dev/shm as process `pid` sees it (its mounts may differ from ours), else as we do.
base::Expected<FileSpace> shared_memory_of(std::uint32_t pid, const SpaceOf& space_of);

}  // namespace fullbore::observe
