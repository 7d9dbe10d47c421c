// The hue, turned as torchvision turns a picture of Pillow's: to Pillow's HSV of 8 bits, whose hue has 255 steps to the
// circle, and back.
#include <algorithm>
#include <array>

#include "feed/image/color.h"

namespace fullbore::image {
namespace {

// Pillow computes a part of this in float and a part in double; the types below are its.
constexpr std::uint8_t hue_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint8_t high, float range) {
  // How far each colour lies below the highest.
  const float below_red = static_cast<float>(high - red) / range;
  const float below_green = static_cast<float>(high - green) / range;
  const float below_blue = static_cast<float>(high - blue) / range;
  float sixths = 0;
  if (red == high) {
    sixths = below_blue - below_green;
  } else if (green == high) {
    sixths = static_cast<float>(2.0 + double{below_red} - double{below_blue});
  } else {
    sixths = static_cast<float>(4.0 + double{below_green} - double{below_red});
  }
  const double circles = double{sixths} / 6.0 + 1.0;
  const float circle = static_cast<float>(circles >= 1.0 ? circles - 1.0 : circles);
  return static_cast<std::uint8_t>(double{circle} * 255.0);
}

// One of the six parts of the circle, and how far into it a hue lies.
struct Sextant {
  std::uint8_t number = 0;
  float inside = 0;
};

constexpr std::array<Sextant, 256> make_sextants() {
  std::array<Sextant, 256> all{};
  for (int hue = 0; hue < 256; ++hue) {
    const double place = static_cast<double>(static_cast<float>(hue)) * 6.0 / 255.0;
    const int number = static_cast<int>(place);
    const float inside = static_cast<float>(place - static_cast<double>(static_cast<float>(number)));
    all[static_cast<std::size_t>(hue)] = {static_cast<std::uint8_t>(number % 6), inside};
  }
  return all;
}

constexpr auto kSextants = make_sextants();

// value * (1 - part), rounded; half a step goes up.
std::uint8_t dimmed(std::uint8_t value, double part) {
  return static_cast<std::uint8_t>(static_cast<double>(value) * (1.0 - part) + 0.5);
}

void turn(std::uint8_t* rgb, std::uint8_t steps) {
  const std::uint8_t high = std::max({rgb[0], rgb[1], rgb[2]}), low = std::min({rgb[0], rgb[1], rgb[2]});
  if (high == low) return;
  const float range = static_cast<float>(high - low);
  const auto hue = static_cast<std::uint8_t>(hue_of(rgb[0], rgb[1], rgb[2], high, range) + steps);
  const auto saturation = static_cast<std::uint8_t>(double{range / static_cast<float>(high)} * 255.0);
  if (saturation == 0) {
    rgb[0] = rgb[1] = rgb[2] = high;
    return;
  }
  const auto [sextant, inside] = kSextants[hue];
  const float share = static_cast<float>(saturation) / 255.0f;
  const std::uint8_t lowest = dimmed(high, share);
  const std::uint8_t falling = dimmed(high, share * inside);
  const std::uint8_t rising = dimmed(high, double{share} * (1.0 - double{inside}));
  const std::array<std::uint8_t, 4> values = {high, falling, rising, lowest};
  // Which of these red, green and blue are, sextant by sextant.
  static constexpr std::uint8_t kRoles[6][3] = {{0, 2, 3}, {1, 0, 3}, {3, 0, 2}, {3, 1, 0}, {2, 3, 0}, {0, 3, 1}};
  for (std::size_t c = 0; c < 3; ++c) rgb[c] = values[kRoles[sextant][c]];
}

}  // namespace

void adjust_hue(std::uint8_t* rgb, std::size_t count, double circles) {
  const auto steps = static_cast<std::uint8_t>(static_cast<int>(circles * 255));
  for (std::size_t i = 0; i < count; ++i) turn(rgb + 3 * i, steps);
}

}  // namespace fullbore::image
