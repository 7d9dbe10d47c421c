// What lies in one tar shard: its pictures with their labels, and what is wrong with it. Made once from the headers,
// kept in a small file of a cache, so that a run does not begin by reading every shard.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/catalogue.h"
#include "feed/image/tar_reader.h"

namespace fullbore::image {

struct ShardSample {
  std::string name;          // of the picture's member; empty where a shard is damaged and no member is known
  std::uint64_t offset = 0;  // of the picture's first byte, or of what is wrong
  std::uint64_t size = 0;
  std::optional<std::int64_t> label;
  std::string fault;  // why it cannot be read; empty: nothing is known to be wrong

  bool operator==(const ShardSample&) const = default;
};

struct ShardListing {
  ShardVersion version;
  std::vector<ShardSample> samples;  // in the order of the shard
};

// A picture is a member named KEY.jpg, .jpeg, .png or .webp; its label is the number in KEY.cls, or the whole number
// `label` of KEY.json. What cannot be used becomes a sample with a fault, so that it meets the loader's policy for bad
// pictures: a second picture of a key, a label that is no number, a link, the place at which a shard is damaged or cut.
std::expected<std::vector<ShardSample>, TarError> list_members(TarReader& reader);

// Fails for what is no shard at all: compressed, sparse, another kind of file, unreadable.
base::Expected<ShardListing> list_shard(const std::string& path);

}  // namespace fullbore::image
