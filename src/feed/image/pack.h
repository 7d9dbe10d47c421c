// Pictures into tar shards: one file per some thousand samples instead of one per sample, which is what disks, network
// file systems and object stores are good at. The pictures' bytes stay as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "feed/image/catalogue.h"
#include "feed/image/pack_index.h"

namespace fullbore::image {

struct PackOptions {
  std::uint64_t shard_bytes = 512'000'000;  // a shard ends before the sample that would make it larger
  std::optional<std::uint64_t> shuffle;     // seed of the order; none: that of the data
  bool skip_bad = false;                    // leave out what cannot be read or is no JPEG, PNG or WebP; it is listed
};

struct PackProgress {
  std::uint64_t done = 0;  // samples
  std::uint64_t samples = 0;
};

struct PackResult {
  PackIndex index;
  std::uint64_t resumed_at = 0;  // sample at which this call went on
  bool stopped = false;          // by `go_on`, before the end
};

// Into `folder`, which is made if it is not there. Goes on where an earlier call with the same data and options ended;
// fails if it holds shards of others, or if another process packs into it. `go_on` is called before each sample; when
// it returns false the shard under way is given up and those that are finished stay.
base::Expected<PackResult> pack(const Catalogue& catalogue, const std::string& folder, const PackOptions& options,
                                const std::function<bool(const PackProgress&)>& go_on);

}  // namespace fullbore::image
