#include "observe/samplers/file_space.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {

base::Expected<FileSpace> file_space(const std::string& path) {
  struct statvfs space{};
  if (::statvfs(path.c_str(), &space) != 0) {
    return std::unexpected(base::Error::system(errno, "cannot read the free space of " + path));
  }
  return FileSpace{space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize};
}

base::Expected<FileSpace> shared_memory_of(std::uint32_t pid, const SpaceOf& space_of) {
  if (auto space = space_of(proc_path(pid, "root/dev/shm"))) return space;
  return space_of("/dev/shm");
}

}  // namespace fullbore::observe
