// The seam between the loader and the formats: a file's bytes in, the resized window as RGB out. Each thread has its
// own decoders, so they may keep buffers and tables from one picture to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "feed/image/checkpoint_store.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

struct DecodeJob {
  Rect window;  // inside the picture
  Size resized;
  Filter filter = Filter::kBilinear;
  bool flip = false;  // after resizing
  std::uint64_t sample = 0;
  std::int64_t mtime_ns = 0;  // when the file was changed last
};

// Rows of 3 * width bytes, `stride` bytes apart.
struct RgbTarget {
  std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;
};

// Errors name what is wrong with the picture; the caller knows which one it is.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // By the first bytes, never by the name of the file.
  virtual bool recognises(std::span<const std::uint8_t> file) const = 0;
  virtual base::Expected<Size> read_size(std::span<const std::uint8_t> file) = 0;
  // What Pillow's Image.open(...).convert("RGB"), cropped and resized, gives.
  virtual base::Expected<void> decode(std::span<const std::uint8_t> file, const DecodeJob& job, RgbTarget target) = 0;
};

// `checkpoints` may be of use and is added to; it must outlive the decoder.
std::unique_ptr<Decoder> make_jpeg_decoder(CheckpointStore& checkpoints);
std::unique_ptr<Decoder> make_png_decoder();
std::unique_ptr<Decoder> make_webp_decoder();

// One of each format.
std::vector<std::unique_ptr<Decoder>> make_decoders(CheckpointStore& checkpoints);

// What a file's name should end with, by its first bytes: "jpg", "png" or "webp"; nothing: no decoder is for it.
std::optional<std::string_view> picture_extension(std::span<const std::uint8_t> file);

// What a file that nobody recognises is, for the error: "a GIF", "no picture of a known kind".
std::string_view describe_unknown(std::span<const std::uint8_t> file);

}  // namespace fullbore::image
