// index.json of a folder of packed shards: what they were made of and how far that went, so that a second call goes on,
// a reader knows whether all are there, and labels have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/shard_writer.h"

namespace fullbore::image {

struct PackIndex {
  struct LeftOut {
    std::string path, reason;
  };

  // What a second call must agree in.
  std::uint64_t data = 0;  // Catalogue::fingerprint()
  std::uint64_t samples = 0;
  std::uint64_t shard_bytes = 0;
  std::optional<std::uint64_t> shuffle;

  std::uint64_t next = 0;  // the first place in the order that no finished shard has
  std::vector<std::string> classes;
  std::vector<WrittenShard> shards;
  std::vector<LeftOut> left_out;

  bool is_complete() const { return next == samples; }
};

// Nothing where the folder has none.
base::Expected<std::optional<PackIndex>> read_pack_index(const std::string& folder);
// All of it or nothing: the one before stays until the new one is on the disk.
base::Expected<void> write_pack_index(const PackIndex& index, const std::string& folder);

}  // namespace fullbore::image
