#include "feed/image/color_jitter.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "feed/image/color.h"

namespace fullbore::image {
namespace {

// All orders of four alike, one for each number below 24.
std::array<ColorChange, 4> order_of(std::uint64_t number) {
  std::array<ColorChange, 4> order = {ColorChange::kBrightness, ColorChange::kContrast, ColorChange::kSaturation,
                                      ColorChange::kHue};
  for (std::size_t left = 4; left > 1; --left) {
    std::swap(order[left - 1], order[number % left]);
    number /= left;
  }
  return order;
}

std::array<std::optional<Range>, 4> ranges_of(const ColorJitter& jitter) {
  return {jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue};
}

}  // namespace

DrawnJitter draw_jitter(const ColorJitter& jitter, const SampleRandom& random, std::uint64_t which) {
  DrawnJitter drawn;
  drawn.order = order_of(to_range(random.block(Draw::kColor, 0, which)[0], 24));
  const PhiloxBlock numbers = random.block(Draw::kColor, 1, which);
  const auto ranges = ranges_of(jitter);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i]) drawn.factors[i] = ranges[i]->low + (ranges[i]->high - ranges[i]->low) * to_unit(numbers[i]);
  }
  return drawn;
}

void apply_jitter(const DrawnJitter& drawn, std::uint8_t* rgb, std::size_t count) {
  for (const ColorChange change : drawn.order) {
    const auto& factor = drawn.factors[static_cast<std::size_t>(change)];
    if (!factor) continue;
    switch (change) {
      case ColorChange::kBrightness:
        adjust_brightness(rgb, count, static_cast<float>(*factor));
        break;
      case ColorChange::kContrast:
        adjust_contrast(rgb, count, static_cast<float>(*factor));
        break;
      case ColorChange::kSaturation:
        adjust_saturation(rgb, count, static_cast<float>(*factor));
        break;
      case ColorChange::kHue:
        adjust_hue(rgb, count, *factor);
        break;
    }
  }
}

std::string unusable(const ColorJitter& jitter) {
  static constexpr const char* kNames[] = {"brightness", "contrast", "saturation", "hue"};
  const auto ranges = ranges_of(jitter);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool hue = i == static_cast<std::size_t>(ColorChange::kHue);
    const double least = hue ? -0.5 : 0, most = hue ? 0.5 : std::numeric_limits<float>::max();
    if (ranges[i] && !(ranges[i]->low >= least && ranges[i]->low <= ranges[i]->high && ranges[i]->high <= most))
      return fmt::format("a {} of {} to {}; {}", kNames[i], ranges[i]->low, ranges[i]->high,
                         hue ? "it is from -0.5 to 0.5 of the circle, low <= high" : "it is 0 <= low <= high");
  }
  return {};
}

}  // namespace fullbore::image
