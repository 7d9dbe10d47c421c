// The tar reader and the listing of shards on any bytes, and the parser of the listings' cache on the same: they must
// end, inside their input, and name no content that the archive does not have. Checksums are mended, or hardly any
// change would get past them.
#include <cstdlib>
#include <cstring>

#include "feed/image/shard_cache.h"
#include "feed/image/testing/tars.h"

namespace {

using namespace fullbore;

void list(std::string_view tar) {
  const auto read = [&](std::uint64_t offset, std::span<std::uint8_t> out) -> base::Expected<void> {
    if (offset > tar.size() || out.size() > tar.size() - offset) std::abort();
    std::memcpy(out.data(), tar.data() + offset, out.size());
    return {};
  };
  image::TarReader reader(read, tar.size());
  const auto samples = image::list_members(reader);
  if (!samples) return;
  for (const image::ShardSample& sample : *samples) {
    if (sample.fault.empty() && (sample.offset > tar.size() || sample.size > tar.size() - sample.offset)) std::abort();
  }
  const image::ShardListing listing{{tar.size(), 1}, *samples};
  const auto again = image::parse_listing(image::to_bytes(listing, "s.tar"), "s.tar");
  if (!again || again->samples != *samples) std::abort();
}

void mend_headers(std::string& tar) {
  for (std::size_t at = 0; at + image::kTarBlock <= tar.size(); at += image::kTarBlock) {
    if (tar.compare(at + 257, 5, "ustar") == 0) image::testing::mend_checksum(tar, at);
  }
}

// FNV-1a, as the cache's files end with it.
void mend_listing(std::string& bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return;
  std::uint64_t hash = 0xcbf29ce484222325;
  const std::size_t content = bytes.size() - sizeof(hash);
  for (std::size_t i = 0; i < content; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  std::memcpy(bytes.data() + content, &hash, sizeof(hash));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  list(bytes);
  std::string listing = bytes;
  mend_listing(listing);
  static_cast<void>(image::parse_listing(listing, "s.tar"));
  mend_headers(bytes);
  list(bytes);
  return 0;
}
