#include "feed/image/shard_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace fullbore::image {

base::Expected<std::shared_ptr<const OpenShard>> OpenShard::open(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::unexpected(base::Error::system(errno, "cannot open the shard " + path));
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0)
    return std::unexpected(base::Error::system(errno, "cannot read the size of " + path));
  if (!S_ISREG(info.st_mode))
    return base::fail(path + " is no regular file; members of a shard are read at their place");
  const ShardVersion version{static_cast<std::uint64_t>(info.st_size),
                             info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
  return std::shared_ptr<const OpenShard>(new OpenShard(std::move(file), version));
}

base::Expected<void> OpenShard::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(base::Error::system(errno, fmt::format("cannot read at byte {}", offset)));
    if (got == 0) return base::fail(fmt::format("the shard ended at byte {}: it is being written", offset));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

base::Expected<std::span<const std::uint8_t>> ShardFiles::read_sample(std::uint64_t sample, FileBytes& bytes,
                                                                      std::string& path) {
  if (const std::string* why = catalogue_.fault(sample)) return base::fail(*why);
  if (const auto member = catalogue_.member(sample)) return read(*member, bytes);
  catalogue_.path(sample, path);
  return bytes.read(path);
}

base::Expected<std::span<const std::uint8_t>> ShardFiles::read(const Catalogue::Member& member, FileBytes& bytes) {
  const auto shard = find(member.shard);
  if (!shard) return std::unexpected(shard.error());
  const auto memory = bytes.reserve(member.size, (*shard)->version().modified_ns);
  if (!memory) return std::unexpected(memory.error());
  if (auto done = (*shard)->read(member.offset, *memory); !done) return std::unexpected(done.error());
  return *memory;
}

base::Expected<std::shared_ptr<const OpenShard>> ShardFiles::find(std::uint32_t shard) {
  const std::lock_guard lock(mutex_);
  if (const auto known = std::ranges::find(open_, shard, &Entry::shard); known != open_.end()) {
    open_.splice(open_.begin(), open_, known);
    return known->file;
  }
  const auto& [path, version] = catalogue_.shard(shard);
  auto file = OpenShard::open(path);
  if (!file) return file;
  if ((*file)->version() != version)
    return base::fail(
        fmt::format("the shard was changed since it was listed ({} bytes then, {} now); open the data again",
                    version.bytes, (*file)->version().bytes));
  if (open_.size() == kMostOpen) open_.pop_back();
  open_.push_front({shard, *file});
  return file;
}

}  // namespace fullbore::image
