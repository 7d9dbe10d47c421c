#include "feed/image/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/unique_fd.h"

namespace fullbore::image {
std::optional<CachedBytes> cached_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (!file || size == 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (info.st_uid != ::geteuid() && ::access(path.c_str(), W_OK) != 0) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page * page;
  const auto length = static_cast<std::size_t>(offset + size - begin);
  void* const mapped = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) return std::nullopt;
  std::vector<unsigned char> pages((length + page - 1) / page);
  const bool told = ::mincore(mapped, length, pages.data()) == 0;
  ::munmap(mapped, length);
  if (!told) return std::nullopt;
  const auto cached = std::ranges::count_if(pages, [](unsigned char bits) { return (bits & 1) != 0; });
  return CachedBytes{static_cast<std::uint64_t>(cached) * page, pages.size() * page};
}

void drop_from_cache(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file) ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace fullbore::image
