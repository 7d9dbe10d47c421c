// The index file as bytes: a head, and behind it blocks that are only ever added at the end. A block has the records of
// some pictures, then their serialised checkpoints. Nothing is believed that does not fit the file and its checksum; a
// block that was being written when power failed is where the file ends.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace fullbore::image {

// What the file has of one picture.
struct IndexRecord {
  std::uint64_t name = 0;      // index_name()
  std::uint64_t identity = 0;  // index_identity()
  std::uint64_t offset = 0;    // of its serialised checkpoints in the file
  std::uint32_t bytes = 0;     // of them; 0: the picture cannot have any
};

// What is to be added.
struct IndexEntry {
  std::uint64_t name = 0;
  std::uint64_t identity = 0;
  std::vector<std::uint8_t> checkpoints;  // serialised; empty if the picture cannot have any
};

std::uint64_t index_name(std::string_view name);

// 64 bits of size, time of last change, the first 1024 bytes and 64 before each sixteenth of the file, or all of one up
// to 2048: a file that was replaced or changed has another identity, unless it was made to have the same.
std::uint64_t index_identity(std::span<const std::uint8_t> file, std::int64_t mtime_ns);

inline constexpr std::size_t kIndexHeadBytes = 16;
std::array<std::uint8_t, kIndexHeadBytes> make_index_head();

enum class IndexHead : std::uint8_t {
  kGood,
  kOther,    // an index, but of another version or damaged
  kForeign,  // no index
};
IndexHead judge_index_head(std::span<const std::uint8_t> head);

inline constexpr std::size_t kMaxIndexEntries = 4096;  // of a block
std::vector<std::uint8_t> make_index_block(std::span<const IndexEntry> entries);

// Reads all of the bytes at an offset; false if they are not there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::uint8_t> bytes)>;

// Tells of every record in the sound blocks from `begin` to `end`, the size of the file; where the next block belongs.
std::uint64_t walk_index(const ReadAt& read, std::uint64_t begin, std::uint64_t end,
                         const std::function<void(const IndexRecord&)>& found);

}  // namespace fullbore::image
