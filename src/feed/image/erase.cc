#include "feed/image/erase.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstring>

#include "feed/image/finish.h"
#include "feed/image/normal_numbers.h"
#include "feed/image/portable_math.h"

namespace fullbore::image {
namespace {

constexpr int kTries = 10;

// Numbers for a run of places, in pieces of a size that needs no memory of its own.
constexpr std::size_t kPiece = 192;  // a multiple of three

class Values {
 public:
  Values(const RandomErasing& erasing, const SampleRandom& random)
      : erasing_(erasing), normal_(random, Draw::kNormal) {}

  // Those of `channel`, or of all in turn where it is 3.
  void fill(std::span<float> values, std::size_t channel) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = erasing_.value ? (*erasing_.value)[channel == 3 ? i % 3 : channel] : normal_.next();
  }

 private:
  const RandomErasing& erasing_;
  NormalNumbers normal_;
};

void erase_run(Values& values, std::size_t channel, std::size_t count, DType dtype, std::byte* out) {
  std::array<float, kPiece> piece;
  for (std::size_t done = 0; done < count; done += kPiece) {
    const std::size_t now = std::min(kPiece, count - done);
    values.fill({piece.data(), now}, channel);
    store_values(piece.data(), now, dtype, out + done * bytes_per_value(dtype));
  }
}

}  // namespace

std::optional<Rect> draw_rectangle(const RandomErasing& erasing, Size size, const SampleRandom& random,
                                   std::uint64_t which) {
  if (!(to_unit(random.block(Draw::kErase, kTries, which)[0]) < erasing.p)) return std::nullopt;
  const double area = static_cast<double>(size.width) * size.height;
  const double log_min = portable_log(erasing.ratio_min), log_max = portable_log(erasing.ratio_max);
  for (int i = 0; i < kTries; ++i) {
    const PhiloxBlock numbers = random.block(Draw::kErase, static_cast<std::uint64_t>(i), which);
    const double target = area * (erasing.scale_min + (erasing.scale_max - erasing.scale_min) * to_unit(numbers[0]));
    const double ratio = portable_exp(log_min + (log_max - log_min) * to_unit(numbers[1]));
    const auto height = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(target * ratio)));
    const auto width = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(target / ratio)));
    if (width >= size.width || height >= size.height) continue;
    return Rect{static_cast<std::uint32_t>(to_range(numbers[2], size.width - width + 1)),
                static_cast<std::uint32_t>(to_range(numbers[3], size.height - height + 1)), width, height};
  }
  return std::nullopt;
}

void erase_rgb(const RandomErasing& erasing, const Rect& part, Size size, std::uint8_t* rgb) {
  std::array<std::uint8_t, 3> colour;
  for (std::size_t c = 0; c < 3; ++c) colour[c] = static_cast<std::uint8_t>((*erasing.value)[c]);
  for (std::uint32_t y = part.y; y < part.y + part.height; ++y) {
    std::uint8_t* const row = rgb + (std::size_t{y} * size.width + part.x) * 3;
    for (std::size_t x = 0; x < part.width; ++x) std::memcpy(row + 3 * x, colour.data(), 3);
  }
}

void erase_finished(const RandomErasing& erasing, const Rect& part, Size size, const TransformOptions& finished,
                    const SampleRandom& random, std::byte* out) {
  Values values(erasing, random);
  const std::size_t bytes = bytes_per_value(finished.dtype), plane = std::size_t{size.width} * size.height;
  const bool pixels = finished.layout == Layout::kNhwc;
  for (std::size_t channel = pixels ? 3 : 0; channel < (pixels ? 4u : 3u); ++channel) {
    for (std::uint32_t y = part.y; y < part.y + part.height; ++y) {
      const std::size_t at = std::size_t{y} * size.width + part.x;
      if (pixels) {
        erase_run(values, channel, std::size_t{3} * part.width, finished.dtype, out + 3 * at * bytes);
      } else {
        erase_run(values, channel, part.width, finished.dtype, out + (channel * plane + at) * bytes);
      }
    }
  }
}

std::string unusable(const RandomErasing& erasing) {
  if (!(erasing.p >= 0 && erasing.p <= 1))
    return fmt::format("a probability of {} to erase; it is from 0 to 1", erasing.p);
  if (!(erasing.scale_min >= 0 && erasing.scale_min <= erasing.scale_max && erasing.scale_max <= 1))
    return fmt::format("a scale of ({}, {}) to erase; it is a part of the area, 0 <= low <= high <= 1",
                       erasing.scale_min, erasing.scale_max);
  if (!(erasing.ratio_min >= 0.01 && erasing.ratio_min <= erasing.ratio_max && erasing.ratio_max <= 100))
    return fmt::format("a ratio of ({}, {}) to erase; it is height / width, 0.01 <= low <= high <= 100",
                       erasing.ratio_min, erasing.ratio_max);
  return {};
}

}  // namespace fullbore::image
