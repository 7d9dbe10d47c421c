// Reads the marker segments of a JPEG (ITU-T T.81, annex B): what the picture is, its tables, where its scans begin.
// Every length in the file is checked against the file before it is believed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fullbore/jpeg.h"

namespace fullbore::jpeg {

using FileBytes = std::span<const std::uint8_t>;

inline constexpr std::uint32_t kMaxDimension = 65'500;  // libjpeg-turbo's JPEG_MAX_DIMENSION
inline constexpr std::size_t kBlockSize = 64;           // coefficients
inline constexpr std::uint32_t kMaxComponents = 4;
inline constexpr std::uint32_t kMaxBlocksInMcu = 10;

inline std::unexpected<Error> corrupt(std::string message) {
  return std::unexpected(Error{ErrorKind::kCorrupt, std::move(message)});
}
inline std::unexpected<Error> unsupported(std::string message) {
  return std::unexpected(Error{ErrorKind::kUnsupported, std::move(message)});
}

struct HuffmanSpec {
  std::array<std::uint8_t, 16> counts{};  // codes of 1..16 bits
  std::array<std::uint8_t, 256> symbols{};

  bool operator==(const HuffmanSpec&) const = default;
};

using QuantTable = std::array<std::uint16_t, kBlockSize>;  // zigzag order

struct Component {
  std::uint8_t id = 0;
  std::uint8_t h = 1;  // sampling factors
  std::uint8_t v = 1;
  std::uint8_t quant = 0;
  std::uint32_t width = 0;  // samples, without the padding to whole blocks
  std::uint32_t height = 0;
};

// How the components become pixels; libjpeg-turbo's guess from the JFIF and Adobe markers and the component ids.
enum class ColorModel : std::uint8_t { kGray, kYcc, kRgb, kCmyk, kYcck, kUnknown };

struct Frame {
  Coding coding = Coding::kOther;
  std::uint8_t precision = 8;  // bits per sample
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t component_count = 0;
  std::array<Component, kMaxComponents> components{};
  std::uint32_t max_h = 1;
  std::uint32_t max_v = 1;
  ColorModel color = ColorModel::kUnknown;
};

struct ScanHeader {
  std::uint32_t component_count = 0;
  std::array<std::uint8_t, kMaxComponents> component{};  // indices into Frame::components
  std::array<std::uint8_t, kMaxComponents> dc_table{};
  std::array<std::uint8_t, kMaxComponents> ac_table{};
  std::uint32_t restart_interval = 0;  // MCUs, 0: none
  bool all_coefficients = false;       // Ss, Se, Ah, Al are 0, 63, 0, 0: what a sequential scan must say
  std::size_t data = 0;                // offset of the first entropy-coded byte
};

// The state of the decoder's tables at the beginning of a scan.
struct Headers {
  Frame frame;
  std::array<std::optional<QuantTable>, 4> quant;
  std::array<std::optional<HuffmanSpec>, 4> dc;
  std::array<std::optional<HuffmanSpec>, 4> ac;
  ScanHeader scan;
};

// Up to the first scan.
Expected<Headers> read_headers(FileBytes file);

// On from `offset`, behind a scan, at the marker that ended it: true at the next scan, false at the end of the picture.
Expected<bool> next_scan(FileBytes file, std::size_t offset, Headers& headers);

}  // namespace fullbore::jpeg
