#include "feed/image/pad.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace fullbore::image {
namespace {

// Which of `size` places is seen at `at`, where places before the first and behind the last are borders.
std::uint32_t source_of(std::int64_t at, std::int64_t size, PadMode mode) {
  const auto turned = [&](std::int64_t skipped) {
    if (at < 0) return -at - 1 + skipped;
    return at < size ? at : 2 * size - 1 - at - skipped;
  };
  switch (mode) {
    case PadMode::kReflect:
      return static_cast<std::uint32_t>(turned(1));
    case PadMode::kSymmetric:
      return static_cast<std::uint32_t>(turned(0));
    default:
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(at, 0, size - 1));
  }
}

void fill_pixels(std::uint8_t* to, std::size_t count, const std::array<std::uint8_t, 3>& colour) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + 3 * i, colour.data(), 3);
}

void widen_row(const Pad& pad, const std::uint8_t* from, std::uint32_t width, std::uint8_t* to) {
  std::uint8_t* const inside = to + std::size_t{3} * pad.left;
  std::uint8_t* const behind = inside + std::size_t{3} * width;
  std::memcpy(inside, from, std::size_t{3} * width);
  if (pad.mode == PadMode::kConstant) {
    fill_pixels(to, pad.left, pad.fill);
    fill_pixels(behind, pad.right, pad.fill);
    return;
  }
  for (std::uint32_t x = 0; x < pad.left; ++x)
    std::memcpy(to + std::size_t{3} * x, from + std::size_t{3} * source_of(std::int64_t{x} - pad.left, width, pad.mode),
                3);
  for (std::uint32_t x = 0; x < pad.right; ++x)
    std::memcpy(behind + std::size_t{3} * x,
                from + std::size_t{3} * source_of(std::int64_t{width} + x, width, pad.mode), 3);
}

}  // namespace

Size padded_size(const Pad& pad, Size size) {
  return {pad.left + size.width + pad.right, pad.top + size.height + pad.bottom};
}

void add_borders(const Pad& pad, const std::uint8_t* from, Size size, std::uint8_t* to) {
  const Size out = padded_size(pad, size);
  const std::size_t row = std::size_t{3} * out.width;
  for (std::uint32_t y = 0; y < out.height; ++y) {
    const std::int64_t at = std::int64_t{y} - pad.top;
    const bool border = at < 0 || at >= size.height;
    if (border && pad.mode == PadMode::kConstant) {
      fill_pixels(to + y * row, out.width, pad.fill);
      continue;
    }
    const std::size_t source = source_of(at, size.height, pad.mode);
    widen_row(pad, from + source * 3 * size.width, size.width, to + y * row);
  }
}

std::string unusable(const Pad& pad, Size size) {
  if (pad.mode != PadMode::kReflect && pad.mode != PadMode::kSymmetric) return {};
  const std::uint32_t spared = pad.mode == PadMode::kReflect ? 1 : 0;  // the edge, which is not seen twice
  const std::uint32_t most_x = size.width - spared, most_y = size.height - spared;
  if (std::max(pad.left, pad.right) > most_x || std::max(pad.top, pad.bottom) > most_y)
    return fmt::format(
        "mirrored borders of {} and {} left and right, {} and {} above and below, of pictures of {} x {}; "
        "up to {} and {} are mirrored, use \"edge\" or \"constant\" for more",
        pad.left, pad.right, pad.top, pad.bottom, size.height, size.width, most_x, most_y);
  return {};
}

}  // namespace fullbore::image
