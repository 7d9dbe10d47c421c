// Listings of shards, kept from one run to the next: reading the headers of a million members takes seconds, and the
// first batch waits for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "feed/image/shard_listing.h"

namespace fullbore::image {

// The listing kept in the folder `cache`, if it is of the shard as it is now; otherwise list_shard(), kept there. A
// cache that cannot be written is no error. Empty: none.
base::Expected<ShardListing> list_shard_cached(const std::string& path, const std::string& cache);

// A file of the cache; it ends with a checksum. Nothing for bytes that are not the listing of the shard at `path`.
std::string to_bytes(const ShardListing& listing, std::string_view path);
std::optional<ShardListing> parse_listing(std::string_view bytes, std::string_view path);

}  // namespace fullbore::image
