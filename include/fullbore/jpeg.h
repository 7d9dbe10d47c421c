// JPEG decoding that does only the work a crop needs. Baseline and extended sequential 8-bit pictures are decoded by
// Fullbore's own decoder, with the pixels of libjpeg-turbo ("islow" transform, fancy upsampling) to the last bit; the
// others (progressive, arithmetic) by libjpeg-turbo itself. Nothing here throws except std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#ifndef FULLBORE_API
#define FULLBORE_API __attribute__((visibility("default")))
#endif

namespace fullbore::jpeg {

enum class ErrorKind : std::uint8_t {
  kCorrupt,      // not a JPEG, cut short, or bits that no encoder writes
  kUnsupported,  // a JPEG, but of a kind that nothing here decodes (12 bits, lossless, two components)
  kArgument,     // the caller's rectangle, size or buffer does not fit the picture
};

struct Error {
  ErrorKind kind = ErrorKind::kCorrupt;
  std::string message;  // lower case, names what and where
};

template <typename T>
using Expected = std::expected<T, Error>;

enum class Coding : std::uint8_t { kBaseline, kExtended, kProgressive, kOther };

// What the markers before the first scan say.
struct Header {
  std::uint32_t width = 0;   // pixels
  std::uint32_t height = 0;  // pixels
  std::uint32_t components = 0;
  std::uint32_t channels = 0;  // of the decoded picture: 3 (RGB), or 4 (CMYK as stored)
  Coding coding = Coding::kBaseline;
  bool native = false;  // decoded by Fullbore's decoder, not by libjpeg-turbo
};

// Pixels; x and y are those of the upper left one.
struct Rect {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// 8 bits per channel, row by row without gaps: height x width x channels.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0;
  std::vector<std::uint8_t> pixels;
};

enum class Filter : std::uint8_t { kBilinear, kBicubic };

// Antialiased resampling with the results of Pillow's Image.resize (the horizontal pass first, as Pillow up to 12
// does).
struct Resize {
  Size size;
  Filter filter = Filter::kBilinear;
  bool flip = false;  // mirror left to right, after resampling
};

class Checkpoints;

struct DecodeOptions {
  std::optional<Rect> window = std::nullopt;    // the whole picture when empty
  std::optional<Resize> resize = std::nullopt;  // of the window, which is treated as if it were the whole picture
  // Of this very file, from an earlier decode; the decoder then starts where the window does.
  const Checkpoints* checkpoints = nullptr;
  // Filled while decoding (the scan is then read to its end); left empty for pictures that cannot have any.
  Checkpoints* record = nullptr;
  // Decode what is left of damaged pictures, as libjpeg-turbo does when its warnings are ignored.
  bool tolerant = false;
};

// Places inside the compressed data at which decoding can start: the beginning of every row of MCUs and every
// kSpacing-th MCU inside it, about 0.65 % of the file when serialised.
class FULLBORE_API Checkpoints {
 public:
  static constexpr std::uint32_t kSpacing = 8;

  struct Point {
    std::uint32_t offset = 0;  // of the byte in the file
    std::uint8_t bit = 0;      // in that byte, 0 is the most significant
    std::int16_t dc[4] = {};   // predictors
  };

  Checkpoints() = default;
  Checkpoints(std::uint32_t mcus_per_row, std::uint32_t rows, std::vector<Point> points);

  bool empty() const { return points_.empty(); }
  std::uint32_t mcus_per_row() const { return mcus_per_row_; }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t per_row() const { return (mcus_per_row_ + kSpacing - 1) / kSpacing; }
  // Row by row; the last one stands at the end of the scan.
  const std::vector<Point>& points() const { return points_; }

  std::vector<std::uint8_t> serialise() const;
  static Expected<Checkpoints> parse(std::span<const std::uint8_t> bytes);

 private:
  std::uint32_t mcus_per_row_ = 0;
  std::uint32_t rows_ = 0;
  std::vector<Point> points_;
};

FULLBORE_API Expected<Header> read_header(std::span<const std::uint8_t> file);

// Keeps tables and buffers from one picture to the next. One thread at a time; as many decoders as threads.
class FULLBORE_API Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  Expected<Picture> decode(std::span<const std::uint8_t> file, const DecodeOptions& options = {});
  // Into memory of the caller: height x width x channels bytes, rows `stride` bytes apart.
  Expected<void> decode_into(std::span<const std::uint8_t> file, const DecodeOptions& options,
                             std::span<std::uint8_t> pixels, std::size_t stride);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fullbore::jpeg
