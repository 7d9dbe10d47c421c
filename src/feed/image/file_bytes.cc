#include "feed/image/file_bytes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace fullbore::image {

base::Expected<std::span<std::uint8_t>> FileBytes::reserve(std::uint64_t size, std::int64_t mtime_ns) {
  if (size == 0) return base::fail("the file is empty");
  if (size > kMost) return base::fail(fmt::format("a file of {} bytes; up to {} are read", size, kMost));
  if (size > capacity_) {
    capacity_ = static_cast<std::size_t>(size + size / 2);
    memory_ = std::make_unique_for_overwrite<std::uint8_t[]>(capacity_);
  }
  mtime_ns_ = mtime_ns;
  return std::span(memory_.get(), static_cast<std::size_t>(size));
}

base::Expected<std::span<const std::uint8_t>> FileBytes::read(const std::string& path) {
  const auto failed = [](const char* what) { return std::unexpected(base::Error::system(errno, what)); };
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed("cannot open it");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return failed("cannot read its size");
  if (!S_ISREG(info.st_mode)) return base::fail("not a regular file");
  const std::int64_t mtime_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  const auto memory = reserve(static_cast<std::uint64_t>(info.st_size), mtime_ns);
  if (!memory) return std::unexpected(memory.error());
  const std::size_t size = memory->size();
  for (std::size_t have = 0; have < size;) {
    const ssize_t got = ::read(file.get(), memory->data() + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read it");
    if (got == 0) return base::fail(fmt::format("the file ended at {} of {} bytes: it is being written", have, size));
    have += static_cast<std::size_t>(got);
  }
  return *memory;
}

}  // namespace fullbore::image
