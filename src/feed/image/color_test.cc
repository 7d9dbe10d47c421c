#include "feed/image/color.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
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

TEST(ColorTest, AHueKeepsItsPlaceWithinAStepAndGrayStaysGray) {
  Pixels rgb = random_pixels(5000);
  const Pixels before = rgb;
  adjust_hue(rgb.data(), 5000, 0.25);
  adjust_hue(rgb.data(), 5000, -0.25);
  // Two roundings to 255 steps of hue and of saturation each.
  for (std::size_t i = 0; i < rgb.size(); ++i) ASSERT_NEAR(rgb[i], before[i], 16);
  std::uint8_t highest = 0, once = 0;
  for (std::size_t i = 0; i < 15000; ++i) {
    highest = std::max(highest, before[i]);
    once = std::max(once, rgb[i]);
  }
  EXPECT_EQ(highest, once);
}

}  // namespace
}  // namespace fullbore::image
