#include "feed/image/pixel_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "feed/image/color_jitter.h"
#include "feed/image/erase.h"
#include "feed/image/normal_numbers.h"

namespace fullbore::image {
namespace {

using ::testing::HasSubstr;

constexpr int kDraws = 100'000;

// Kolmogorov's distance to the uniform distribution on [low, high].
double distance_to_uniform(std::vector<double> values, double low, double high) {
  std::ranges::sort(values);
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = std::clamp((values[i] - low) / (high - low), 0.0, 1.0);
    worst = std::max(worst, std::abs(expected - (static_cast<double>(i) + 0.5) / static_cast<double>(values.size())));
  }
  return worst * std::sqrt(static_cast<double>(values.size()));
}

constexpr double kBound = 1.95;  // p = 0.001

TEST(JitterTest, FactorsAreUniformAndAllOrdersAlike) {
  const ColorJitter jitter{.brightness = Range{0.5, 1.5}, .contrast = Range{0, 3}, .hue = Range{-0.1, 0.4}};
  std::map<std::array<ColorChange, 4>, int> orders;
  std::array<std::vector<double>, 4> factors;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    const DrawnJitter drawn = draw_jitter(jitter, {1, 2, sample}, 0);
    ++orders[drawn.order];
    EXPECT_FALSE(drawn.factors[2]);
    for (const std::size_t i : {0u, 1u, 3u}) factors[i].push_back(*drawn.factors[i]);
  }
  EXPECT_LT(distance_to_uniform(factors[0], 0.5, 1.5), kBound);
  EXPECT_LT(distance_to_uniform(factors[1], 0, 3), kBound);
  EXPECT_LT(distance_to_uniform(factors[3], -0.1, 0.4), kBound);
  ASSERT_EQ(orders.size(), 24u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, kDraws / 24, 5 * std::sqrt(kDraws / 24));
}

TEST(JitterTest, TwoOfThemDrawDifferentNumbers) {
  const ColorJitter jitter{.brightness = Range{0, 2}};
  EXPECT_NE(draw_jitter(jitter, {1, 2, 3}, 0).factors, draw_jitter(jitter, {1, 2, 3}, 1).factors);
}

TEST(EraseTest, AreaRatioAndPlaceAreThoseOfTorchvision) {
  const RandomErasing erasing{.p = 0.75, .scale_min = 0.05, .scale_max = 0.2, .ratio_min = 0.5, .ratio_max = 2};
  const Size size{8000, 6000};
  std::vector<double> areas, ratios, places;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    const auto part = draw_rectangle(erasing, size, {1, 2, sample}, 0);
    if (!part) continue;
    areas.push_back(double(part->width) * part->height / 48e6);
    ratios.push_back(std::log(double(part->height) / part->width));
    places.push_back((part->x + 0.5) / (size.width - part->width + 1));
    ASSERT_LE(part->y + part->height, size.height);
  }
  EXPECT_NEAR(static_cast<double>(areas.size()), 0.75 * kDraws, 700);  // five deviations
  EXPECT_LT(distance_to_uniform(areas, 0.05, 0.2), kBound);
  EXPECT_LT(distance_to_uniform(ratios, std::log(0.5), std::log(2)), kBound);
  EXPECT_LT(distance_to_uniform(places, 0, 1), kBound);
}

TEST(EraseTest, ARectangleThatDoesNotFitIsNotDrawn) {
  const RandomErasing whole{.p = 1, .scale_min = 1, .scale_max = 1, .ratio_min = 1, .ratio_max = 1};
  EXPECT_FALSE(draw_rectangle(whole, {50, 50}, {1, 2, 3}, 0));
}

TEST(EraseTest, NormalNumbersHaveTheirMomentsAndAreTheSameEachTime) {
  NormalNumbers numbers({1, 2, 3}, Draw::kNormal), again({1, 2, 3}, Draw::kNormal);
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = numbers.next();
    ASSERT_EQ(x, again.next());
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.016);  // five deviations
  EXPECT_NEAR(squares / kDraws, 1, 0.023);
  EXPECT_NEAR(fourths / kDraws, 3, 0.16);
}

TEST(PixelStepsTest, BordersAndWhatFollowsThemAreDoneInTheirOrder) {
  const Pad one{.left = 1, .top = 1, .right = 1, .bottom = 1, .fill = {9, 9, 9}};
  const Pad mirrored{.right = 2, .mode = PadMode::kReflect};
  const std::vector<PixelStep> pipeline = {one, mirrored, ColorJitter{.brightness = Range{2, 2}}};
  PixelSteps steps(pipeline, {2, 1});
  EXPECT_EQ(size_after(pipeline, {2, 1}).width, 6u);
  for (int again = 0; again < 2; ++again) {
    const std::uint8_t picture[] = {10, 20, 30, 40, 50, 60};
    std::memcpy(steps.input(), picture, sizeof picture);
    const std::uint8_t* made = steps.run({1, 2, 3});
    const std::vector<std::uint8_t> middle(made + 18, made + 36);
    EXPECT_EQ(middle,
              (std::vector<std::uint8_t>{18, 18, 18, 20, 40, 60, 80, 100, 120, 18, 18, 18, 80, 100, 120, 20, 40, 60}));
    EXPECT_TRUE(std::all_of(made, made + 18, [](std::uint8_t value) { return value == 18; }));
  }
}

TEST(PixelStepsTest, WhatCannotBeDoneIsNamed) {
  const auto why = [](const PixelStep& step) { return unusable(std::vector<PixelStep>{step}, Size{30, 20}); };
  EXPECT_EQ(why(Pad{.left = 29, .mode = PadMode::kReflect}), "");
  EXPECT_THAT(why(Pad{.left = 30, .mode = PadMode::kReflect}), HasSubstr("up to 29 and 19 are mirrored"));
  EXPECT_EQ(why(Pad{.left = 30, .mode = PadMode::kSymmetric}), "");
  EXPECT_THAT(why(RandomErasing{.value = std::nullopt}), HasSubstr("erase after the normalisation"));
  EXPECT_THAT(why(RandomErasing{.p = -1}), HasSubstr("probability of -1"));
  EXPECT_THAT(why(RandomErasing{.ratio_min = 0}), HasSubstr("height / width"));
  EXPECT_THAT(why(ColorJitter{.brightness = Range{-1, 1}}), HasSubstr("a brightness of -1 to 1"));
  EXPECT_THAT(why(RandomGrayscale{2}), HasSubstr("probability of 2"));
}

}  // namespace
}  // namespace fullbore::image
