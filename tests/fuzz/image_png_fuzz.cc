// The PNG decoder and the reader of EXIF on any bytes. Checksums are made to fit, so that what they guard is reached.
#include <zlib.h>

#include <cstddef>
#include <vector>

#include "feed/image/exif.h"
#include "tests/fuzz/png_webp.h"

namespace {

constexpr std::size_t kSignature = 8, kAround = 12;  // length, kind and checksum

std::size_t big_endian(const std::uint8_t* bytes) {
  return std::size_t{bytes[0]} << 24 | std::size_t{bytes[1]} << 16 | std::size_t{bytes[2]} << 8 | bytes[3];
}

void make_plausible(std::vector<std::uint8_t>& file) {
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    const std::size_t length = big_endian(&file[at]);
    if (length > file.size() - at - kAround) return;
    const auto checksum = ::crc32(0, &file[at + 4], static_cast<unsigned>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) file[at + 8 + length + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
    at += kAround + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto decoder = fullbore::image::make_png_decoder();
  std::vector<std::uint8_t> file(data, data + size);
  decode_a_part(*decoder, file);
  make_plausible(file);
  decode_a_part(*decoder, file);
  (void)fullbore::image::exif_orientation(file);
  return 0;
}
