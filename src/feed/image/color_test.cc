#include "feed/image/color.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace fullbore::image {
namespace {

using Pixels = std::vector<std::uint8_t>;

Pixels random_pixels(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  Pixels rgb(3 * count);
  for (auto& value : rgb) value = static_cast<std::uint8_t>(random() >> 24);
  return rgb;
}

std::uint8_t gray_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) / 65536u);
}

// `levels` has what each value is moved away from.
Pixels blended(const Pixels& levels, const Pixels& rgb, float factor) {
  Pixels result;
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    // One rounding per operation: volatile keeps the compiler from fusing them.
    volatile float value = factor * static_cast<float>(int{rgb[i]} - int{levels[i]});
    value = static_cast<float>(levels[i]) + value;
    const float seen = value;
    result.push_back(static_cast<std::uint8_t>(std::clamp(seen, 0.0f, 255.0f)));
  }
  return result;
}

template <typename Check>
void on_every_instruction_set(Check check) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    for (const std::size_t count : {1u, 3u, 7u, 16u, 17u, 500u, 4099u}) {
      SCOPED_TRACE(std::string(hwy::TargetName(left & -left)) + ", pixels: " + std::to_string(count));
      check(random_pixels(count), count);
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(ColorTest, BrightnessContrastAndSaturationMoveAwayFromBlackTheMeanAndGray) {
  on_every_instruction_set([](const Pixels& rgb, std::size_t count) {
    Pixels gray;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      gray.insert(gray.end(), 3, gray_of(&rgb[3 * i]));
      sum += gray.back();
    }
    const auto mean = static_cast<std::uint8_t>(static_cast<double>(sum) / static_cast<double>(count) + 0.5);
    for (const float factor : {0.0f, 0.3f, 1.0f, 1.7f, 40.0f}) {
      Pixels bright = rgb, contrasted = rgb, saturated = rgb;
      adjust_brightness(bright.data(), count, factor);
      adjust_contrast(contrasted.data(), count, factor);
      adjust_saturation(saturated.data(), count, factor);
      EXPECT_EQ(bright, blended(Pixels(rgb.size(), 0), rgb, factor));
      EXPECT_EQ(contrasted, blended(Pixels(rgb.size(), mean), rgb, factor));
      EXPECT_EQ(saturated, blended(gray, rgb, factor));
    }
    Pixels made = rgb;
    make_gray(made.data(), count);
    EXPECT_EQ(made, gray);
  });
}

TEST(ColorTest, TheMeanOfAVeryLargePictureDoesNotRunOver) {
  const std::size_t count = 40u << 20;
  Pixels rgb(3 * count, 255);
  adjust_contrast(rgb.data(), count, 0.5f);
  EXPECT_TRUE(std::ranges::all_of(rgb, [](std::uint8_t value) { return value == 255; }));
}

TEST(ColorTest, AThirdOfTheCircleMakesRedGreenAndGreenBlue) {
  Pixels rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 90, 90, 90};
  adjust_hue(rgb.data(), 4, 1.0 / 3);
  EXPECT_EQ(rgb, (Pixels{0, 255, 0, 0, 0, 255, 255, 0, 0, 90, 90, 90}));
}

// One colour of the circle, as Pillow computes it: partly in float, partly in double.
std::array<std::uint8_t, 3> turned(const std::uint8_t* rgb, int steps) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int high = std::max({r, g, b}), low = std::min({r, g, b});
  if (high == low) return {rgb[0], rgb[1], rgb[2]};
  const float range = static_cast<float>(high - low);
  const double red = static_cast<float>(high - r) / range, green = static_cast<float>(high - g) / range,
               blue = static_cast<float>(high - b) / range;
  const float sixths = static_cast<float>(r == high ? blue - green : g == high ? 2 + red - blue : 4 + green - red);
  const float circle = static_cast<float>(std::fmod(double{sixths} / 6.0 + 1.0, 1.0));
  const int hue = (static_cast<int>(double{circle} * 255) + steps) & 255;
  const int saturation = static_cast<int>(double{range / static_cast<float>(high)} * 255);
  const double place = hue * 6.0 / 255.0;
  const float inside = static_cast<float>(place - std::floor(place)), share = static_cast<float>(saturation) / 255.0f;
  const auto dim = [&](double part) { return static_cast<std::uint8_t>(std::round(high * (1 - part))); };
  const std::uint8_t v = static_cast<std::uint8_t>(high), p = dim(share), q = dim(double{share * inside}),
                     t = dim(double{share} * (1 - double{inside}));
  const std::array<std::uint8_t, 3> sextants[6] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  return sextants[static_cast<int>(place) % 6];
}

TEST(ColorTest, AHueIsTurnedAsPillowTurnsItOnEveryInstructionSet) {
  // Every pair of the highest and the lowest colour, a colour between, all six orders.
  Pixels rgb;
  for (int high = 0; high < 256; ++high) {
    for (int low = 0; low <= high; ++low) {
      const auto h = static_cast<std::uint8_t>(high), l = static_cast<std::uint8_t>(low);
      const auto m = static_cast<std::uint8_t>(low + (high * 7 + low * 13) % (high - low + 1));
      for (const Pixels& colour : {Pixels{h, m, l}, {h, l, m}, {m, h, l}, {l, h, m}, {m, l, h}, {l, m, h}})
        rgb.insert(rgb.end(), colour.begin(), colour.end());
    }
  }
  rgb.resize(rgb.size() - 3);  // not a whole number of vectors
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    for (const double turn : {-0.5, -0.17, 0.0, 0.04, 0.33, 0.5}) {
      Pixels got = rgb;
      adjust_hue(got.data(), got.size() / 3, turn);
      for (std::size_t i = 0; i < rgb.size(); i += 3) {
        const auto expected = turned(&rgb[i], static_cast<int>(turn * 255));
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), &got[i])) << hwy::TargetName(left & -left) << " " << i;
      }
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace fullbore::image
