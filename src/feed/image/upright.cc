#include "feed/image/upright.h"

#include <algorithm>
#include <cstring>

namespace fullbore::image {
namespace {

std::size_t bytes_of(Size size) {
  return std::size_t{3} * size.width * size.height;
}

}  // namespace

Turn Turn::of(int orientation) {
  switch (orientation) {
    case 2:
      return {.mirrors_x = true};
    case 3:
      return {.mirrors_x = true, .mirrors_y = true};
    case 4:
      return {.mirrors_y = true};
    case 5:
      return {.transposes = true};
    case 6:
      return {.mirrors_y = true, .transposes = true};
    case 7:
      return {.mirrors_x = true, .mirrors_y = true, .transposes = true};
    case 8:
      return {.mirrors_x = true, .transposes = true};
    default:
      return {};
  }
}

Size Turn::size(Size size) const {
  return transposes ? Size{size.height, size.width} : size;
}

Rect Turn::stored(const Rect& part, Size stored) const {
  Rect result = transposes ? Rect{part.y, part.x, part.height, part.width} : part;
  if (mirrors_x) result.x = stored.width - result.x - result.width;
  if (mirrors_y) result.y = stored.height - result.y - result.height;
  return result;
}

void turn_upright(const Turn& turn, const std::uint8_t* pixels, Size stored, std::uint8_t* out) {
  // Square by square: a column of a large picture touches as many pages as it has pixels.
  constexpr std::uint32_t kSide = 32;
  const std::size_t width = turn.size(stored).width;
  for (std::uint32_t top = 0; top < stored.height; top += kSide) {
    for (std::uint32_t left = 0; left < stored.width; left += kSide) {
      for (std::uint32_t y = top; y < std::min(top + kSide, stored.height); ++y) {
        for (std::uint32_t x = left; x < std::min(left + kSide, stored.width); ++x) {
          const std::size_t a = turn.mirrors_x ? stored.width - 1 - x : x;
          const std::size_t b = turn.mirrors_y ? stored.height - 1 - y : y;
          std::memcpy(out + 3 * (turn.transposes ? a * width + b : b * width + a),
                      pixels + 3 * (std::size_t{y} * stored.width + x), 3);
        }
      }
    }
  }
}

base::Expected<void> UprightDecoder::decode(Decoder& decoder, std::span<const std::uint8_t> file, const DecodeJob& job,
                                            const Turn& turn, Size stored, RgbTarget target) {
  if (turn.is_none()) return decoder.decode(file, job, target);
  DecodeJob as_stored = job;
  as_stored.window = turn.stored(job.window, stored);
  as_stored.resized = {as_stored.window.width, as_stored.window.height};
  as_stored.flip = false;
  stored_.resize(bytes_of(as_stored.resized));
  upright_.resize(stored_.size());
  const RgbTarget whole{stored_.data(), std::size_t{as_stored.resized.width} * 3};
  if (auto done = decoder.decode(file, as_stored, whole); !done) return done;
  turn_upright(turn, stored_.data(), as_stored.resized, upright_.data());
  DecodeJob inside = job;
  inside.window = {0, 0, job.window.width, job.window.height};
  resizer_.run(upright_.data(), job.window.width, inside, target);
  return {};
}

}  // namespace fullbore::image
