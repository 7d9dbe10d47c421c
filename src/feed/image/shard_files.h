// The shards that are open, a bounded number of them: a data set may have more than a process may have descriptors.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "feed/image/catalogue.h"
#include "feed/image/file_bytes.h"

namespace fullbore::image {

class OpenShard {
 public:
  static base::Expected<std::shared_ptr<const OpenShard>> open(const std::string& path);

  const ShardVersion& version() const { return version_; }
  int fd() const { return file_.get(); }
  // Fills all of `out`.
  base::Expected<void> read(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  OpenShard(base::UniqueFd file, ShardVersion version) : file_(std::move(file)), version_(version) {}

  base::UniqueFd file_;
  ShardVersion version_;
};

// Thread-safe. The one that was not used for longest is closed when another one is wanted; while a thread reads from
// it, it stays open.
class ShardFiles {
 public:
  static constexpr std::size_t kMostOpen = 64;

  // `catalogue` must outlive it.
  explicit ShardFiles(const Catalogue& catalogue) : catalogue_(catalogue) {}

  // Content of a sample, a file or a member; `path` is memory that is used again.
  base::Expected<std::span<const std::uint8_t>> read_sample(std::uint64_t sample, FileBytes& bytes, std::string& path);
  // Content of a member, into `bytes`, valid until its next use. Errors name the byte of the shard. A shard that was
  // changed since it was listed is refused: its members lie elsewhere now.
  base::Expected<std::span<const std::uint8_t>> read(const Catalogue::Member& member, FileBytes& bytes);

 private:
  struct Entry {
    std::uint32_t shard;
    std::shared_ptr<const OpenShard> file;
  };

  base::Expected<std::shared_ptr<const OpenShard>> find(std::uint32_t shard);

  const Catalogue& catalogue_;
  std::mutex mutex_;
  std::list<Entry> open_;  // the one used last comes first
};

}  // namespace fullbore::image
