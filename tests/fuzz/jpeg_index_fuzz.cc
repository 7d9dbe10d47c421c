// The index file as any bytes: what is read of it must lie inside it, and its checkpoints, used on a picture that they
// may not describe, must end in right pixels or an error and leave memory alone.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "feed/image/index_format.h"
#include "feed/jpeg/testing/pictures.h"
#include "fullbore/jpeg.h"

namespace {

using namespace fullbore;

constexpr std::size_t kBlockHead = 16, kLine = 20, kCrcAt = 12;
constexpr std::size_t kMostRecords = 16;  // a block can say a hundred thousand times that nothing is there

// A first block with a checksum that fits, so that what lies behind the checksum is reached.
void make_plausible(std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < kBlockHead) return;
  std::uint32_t words[3];
  std::memcpy(words, bytes.data(), sizeof words);
  words[0] = 0x4b4c4246;
  words[1] %= static_cast<std::uint32_t>((bytes.size() - kBlockHead) / kLine + 1);
  words[2] = 0;
  for (std::uint32_t i = 0; i < words[1]; ++i) {
    std::uint32_t length;
    std::memcpy(&length, bytes.data() + kBlockHead + i * kLine + 16, sizeof length);
    words[2] += length;
  }
  std::memcpy(bytes.data(), words, sizeof words);
  auto crc = ::crc32(0, bytes.data(), kCrcAt);
  crc = ::crc32(crc, bytes.data() + kBlockHead, static_cast<uInt>(words[1] * kLine));
  const auto stored = static_cast<std::uint32_t>(crc);
  std::memcpy(bytes.data() + kCrcAt, &stored, sizeof stored);
}

void use(std::span<const std::uint8_t> serialised) {
  static const auto picture = jpeg::testing::encode({.width = 300, .height = 90});
  static jpeg::Decoder decoder;
  static const auto right = decoder.decode(picture);
  const auto checkpoints = jpeg::Checkpoints::parse(serialised);
  if (!checkpoints) return;
  // Their checksum is a picture's own, so these describe the seed's, or nothing that an encoder wrote.
  const auto decoded = decoder.decode(picture, {.checkpoints = &*checkpoints});
  if (decoded && decoded->pixels != right->pixels) __builtin_trap();
}

void read_all(const std::vector<std::uint8_t>& file) {
  std::vector<image::IndexRecord> records;
  const auto read = [&](std::uint64_t offset, std::span<std::uint8_t> into) {
    if (offset > file.size() || into.size() > file.size() - offset) return false;
    std::memcpy(into.data(), file.data() + offset, into.size());
    return true;
  };
  const std::uint64_t end = image::walk_index(read, 0, file.size(), [&](const image::IndexRecord& record) {
    if (records.size() < kMostRecords) records.push_back(record);
  });
  if (end > file.size()) __builtin_trap();
  for (const image::IndexRecord& record : records) {
    if (record.offset > file.size() || record.bytes > file.size() - record.offset) __builtin_trap();
    use(std::span(file).subspan(record.offset, record.bytes));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  (void)image::judge_index_head(file);
  (void)image::index_identity(file, 0);
  read_all(file);
  make_plausible(file);
  read_all(file);
  return 0;
}
