#include "feed/image/index_format.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace fullbore::image {
namespace {

constexpr std::array<char, 8> kMagic = {'F', 'B', 'J', 'P', 'E', 'G', 'I', 'X'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kBlockMagic = 0x4b4c4246;  // "FBLK"

// Little-endian, all of them; no padding.
struct Head {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t crc32;  // of the fields above
};
static_assert(sizeof(Head) == kIndexHeadBytes);

struct BlockHead {
  std::uint32_t magic;
  std::uint32_t entries;
  std::uint32_t checkpoint_bytes;  // of all entries, behind the directory
  std::uint32_t crc32;             // of the fields above and the directory; checkpoints have their own
};

// The directory: this for each entry, without gaps.
struct Line {
  std::uint32_t name[2];
  std::uint32_t identity[2];
  std::uint32_t bytes;
};
static_assert(sizeof(Line) == 20);

std::uint32_t crc_of(const void* bytes, std::size_t count, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(::crc32(before, static_cast<const Bytef*>(bytes), static_cast<uInt>(count)));
}

std::uint32_t crc_of(const BlockHead& head, const std::uint8_t* directory) {
  return crc_of(directory, head.entries * sizeof(Line), crc_of(&head, offsetof(BlockHead, crc32)));
}

void split(std::uint64_t value, std::uint32_t (&halves)[2]) {
  halves[0] = static_cast<std::uint32_t>(value);
  halves[1] = static_cast<std::uint32_t>(value >> 32);
}
std::uint64_t join(const std::uint32_t (&halves)[2]) {
  return std::uint64_t{halves[1]} << 32 | halves[0];
}

// Words of 64 bits are mixed as FNV-1a mixes bytes, with a shift that brings the upper half down.
class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 32;
  }
  void add(std::span<const std::uint8_t> bytes) {
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      add(word);
    }
    std::uint64_t rest = bytes.size();
    for (const std::uint8_t byte : bytes) rest = rest << 8 | byte;
    add(rest);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t index_name(std::string_view name) {
  Hash hash;
  hash.add({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
  return hash.value();
}

std::uint64_t index_identity(std::span<const std::uint8_t> file, std::int64_t mtime_ns) {
  constexpr std::size_t kFirst = 1024, kPlaces = 16, kPart = 64;
  Hash hash;
  hash.add(file.size());
  hash.add(static_cast<std::uint64_t>(mtime_ns));
  if (file.size() <= kFirst + kPlaces * kPart) {
    hash.add(file);
    return hash.value();
  }
  hash.add(file.first(kFirst));
  for (std::size_t i = 1; i <= kPlaces; ++i) hash.add(file.subspan(file.size() * i / kPlaces - kPart, kPart));
  return hash.value();
}

std::array<std::uint8_t, kIndexHeadBytes> make_index_head() {
  Head head{kMagic, kVersion, 0};
  head.crc32 = crc_of(&head, offsetof(Head, crc32));
  std::array<std::uint8_t, kIndexHeadBytes> bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

IndexHead judge_index_head(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return IndexHead::kForeign;
  const auto good = make_index_head();
  return std::ranges::equal(bytes, good) ? IndexHead::kGood : IndexHead::kOther;
}

std::vector<std::uint8_t> make_index_block(std::span<const IndexEntry> entries) {
  BlockHead head{kBlockMagic, static_cast<std::uint32_t>(entries.size()), 0, 0};
  std::vector<std::uint8_t> block(sizeof head + entries.size() * sizeof(Line));
  std::size_t at = sizeof head;
  for (const IndexEntry& entry : entries) {
    Line line{{}, {}, static_cast<std::uint32_t>(entry.checkpoints.size())};
    split(entry.name, line.name);
    split(entry.identity, line.identity);
    head.checkpoint_bytes += line.bytes;
    std::memcpy(block.data() + at, &line, sizeof line);
    at += sizeof line;
  }
  head.crc32 = crc_of(head, block.data() + sizeof head);
  std::memcpy(block.data(), &head, sizeof head);
  block.reserve(block.size() + head.checkpoint_bytes);
  for (const IndexEntry& entry : entries) block.insert(block.end(), entry.checkpoints.begin(), entry.checkpoints.end());
  return block;
}

std::uint64_t walk_index(const ReadAt& read, std::uint64_t begin, std::uint64_t end,
                         const std::function<void(const IndexRecord&)>& found) {
  std::vector<std::uint8_t> directory;
  std::vector<IndexRecord> records;
  for (std::uint64_t at = begin;;) {
    BlockHead head;
    if (at > end || end - at < sizeof head) return at;
    if (!read(at, {reinterpret_cast<std::uint8_t*>(&head), sizeof head})) return at;
    if (head.magic != kBlockMagic || head.entries == 0 || head.entries > kMaxIndexEntries) return at;
    const std::size_t lines = head.entries * sizeof(Line);
    if (end - at < sizeof head + lines + head.checkpoint_bytes) return at;
    directory.resize(lines);
    if (!read(at + sizeof head, directory) || crc_of(head, directory.data()) != head.crc32) return at;
    std::uint64_t offset = at + sizeof head + lines;
    const std::uint64_t block_end = offset + head.checkpoint_bytes;
    records.clear();
    for (std::size_t i = 0; i < head.entries; ++i) {
      Line line;
      std::memcpy(&line, directory.data() + i * sizeof line, sizeof line);
      records.push_back({join(line.name), join(line.identity), offset, line.bytes});
      offset += line.bytes;
    }
    if (offset != block_end) return at;
    for (const IndexRecord& record : records) found(record);
    at = block_end;
  }
}

}  // namespace fullbore::image
