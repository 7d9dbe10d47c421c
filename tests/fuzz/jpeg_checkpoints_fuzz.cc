// Checkpoints that lie: any bytes as serialised checkpoints (with a checksum that fits), used on a picture that they do
// not describe. Wrong pixels cannot be told from right ones here; memory must stay untouched and decoding must end.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "feed/jpeg/testing/pictures.h"
#include "fullbore/jpeg.h"

namespace {

using namespace fullbore::jpeg;

constexpr std::size_t kHeadBytes = 28, kBodyBytesAt = 20, kChecksumAt = 24;

void make_plausible(std::vector<std::uint8_t>& bytes) {
  const auto body = static_cast<std::uint32_t>(bytes.size() - kHeadBytes);
  std::memcpy(bytes.data() + kBodyBytesAt, &body, sizeof body);
  auto crc = ::crc32(0, bytes.data(), kChecksumAt);
  crc = ::crc32(crc, bytes.data() + kHeadBytes, body);
  const auto stored = static_cast<std::uint32_t>(crc);
  std::memcpy(bytes.data() + kChecksumAt, &stored, sizeof stored);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto picture = testing::encode({.width = 300, .height = 90});
  static const auto restarts = testing::encode({.width = 300, .height = 90, .restart_interval = 7});
  static Decoder decoder;
  std::vector<std::uint8_t> bytes(data, data + size);
  if (const auto parsed = Checkpoints::parse(bytes); parsed && parsed->serialise() != bytes) __builtin_trap();
  if (bytes.size() < kHeadBytes) return 0;
  make_plausible(bytes);
  const auto lies = Checkpoints::parse(bytes);
  if (!lies) return 0;
  for (const auto& file : {picture, restarts}) {
    (void)decoder.decode(file, {.checkpoints = &*lies});
    (void)decoder.decode(file, {.window = Rect{101, 20, 80, 40}, .checkpoints = &*lies});
  }
  return 0;
}
