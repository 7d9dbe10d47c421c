#include "feed/image/exif.h"

#include <optional>
#include <string_view>

namespace fullbore::image {
namespace {

using Bytes = std::span<const std::uint8_t>;
using namespace std::string_view_literals;

bool begins_with(Bytes bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(text);
}

std::uint32_t number(Bytes bytes, std::size_t at, std::size_t size, bool little_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + (little_endian ? size - 1 - i : i)];
  return value;
}

// The tag in the first directory of a TIFF, which is what EXIF is.
int orientation_of_tiff(Bytes tiff) {
  constexpr std::uint32_t kTag = 0x112, kShort = 3, kLong = 4;
  constexpr std::size_t kHead = 8, kEntry = 12;
  const bool little = begins_with(tiff, "II*\0"sv);
  if (tiff.size() < kHead || (!little && !begins_with(tiff, "MM\0*"sv))) return 1;
  const std::size_t directory = number(tiff, 4, 4, little);
  if (directory > tiff.size() - 2) return 1;
  const std::size_t entries = number(tiff, directory, 2, little);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * kEntry;
    if (at + kEntry > tiff.size()) return 1;
    if (number(tiff, at, 2, little) != kTag) continue;
    const std::uint32_t type = number(tiff, at + 2, 2, little), count = number(tiff, at + 4, 4, little);
    if (count != 1 || (type != kShort && type != kLong)) return 1;
    const std::uint32_t value = number(tiff, at + 8, type == kShort ? 2 : 4, little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Bytes without_name(Bytes exif) {
  constexpr auto kName = "Exif\0\0"sv;
  return begins_with(exif, kName) ? exif.subspan(kName.size()) : exif;
}

int orientation_of_jpeg(Bytes file) {
  constexpr std::uint8_t kApp1 = 0xe1, kStartOfScan = 0xda;
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == 0xff) {
    const std::uint8_t marker = file[at + 1];
    if (marker == 0xff) {  // a byte that fills
      ++at;
      continue;
    }
    const std::size_t length = number(file, at + 2, 2, false);
    if (marker == kStartOfScan || length < 2 || at + 2 + length > file.size()) return 1;
    const Bytes segment = file.subspan(at + 4, length - 2);
    if (marker == kApp1 && begins_with(segment, "Exif\0\0"sv)) return orientation_of_tiff(without_name(segment));
    at += 2 + length;
  }
  return 1;
}

int orientation_of_png(Bytes file) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, kind and checksum
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    const std::size_t length = number(file, at, 4, false);
    if (length > file.size() - at - kAround) return 1;
    if (begins_with(file.subspan(at + 4), "eXIf"))
      return orientation_of_tiff(without_name(file.subspan(at + 8, length)));
    at += kAround + length;
  }
  return 1;
}

int orientation_of_webp(Bytes file) {
  constexpr std::size_t kHead = 12, kAround = 8;
  for (std::size_t at = kHead; at + kAround <= file.size();) {
    const std::size_t length = number(file, at + 4, 4, true);
    if (length > file.size() - at - kAround) return 1;
    if (begins_with(file.subspan(at), "EXIF")) return orientation_of_tiff(without_name(file.subspan(at + 8, length)));
    at += kAround + length + length % 2;
  }
  return 1;
}

}  // namespace

int exif_orientation(Bytes file) {
  if (begins_with(file, "\xff\xd8"sv)) return orientation_of_jpeg(file);
  if (begins_with(file, "\x89PNG\r\n\x1a\n"sv)) return orientation_of_png(file);
  if (begins_with(file, "RIFF"sv)) return orientation_of_webp(file);
  return 1;
}

}  // namespace fullbore::image
