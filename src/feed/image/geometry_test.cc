#include "feed/image/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fullbore::image {
namespace {

constexpr int kDraws = 200'000;

template <typename Measure>
std::vector<double> drawn(const RandomResizedCrop& crop, Size size, Measure measure) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < kDraws; ++i) values.push_back(measure(random_crop(crop, size, {1, 2, i})));
  std::ranges::sort(values);
  return values;
}

// Kolmogorov's distance to the uniform distribution on [low, high].
double distance_to_uniform(const std::vector<double>& sorted, double low, double high) {
  double worst = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double expected = std::clamp((sorted[i] - low) / (high - low), 0.0, 1.0);
    worst = std::max(worst, std::abs(expected - (static_cast<double>(i) + 0.5) / kDraws));
  }
  return worst;
}

constexpr double kBound = 1.95 / 447.2;  // p = 0.001

TEST(RandomCropTest, AreaAndLogRatioAreUniformWhereEveryTryFits) {
  const RandomResizedCrop crop{.scale_min = 0.08, .scale_max = 0.5};
  const Size size{6000, 6000};
  const auto areas = drawn(crop, size, [&](const Rect& r) { return double(r.width) * r.height / 36e6; });
  EXPECT_LT(distance_to_uniform(areas, 0.08, 0.5), kBound);
  const auto ratios = drawn(crop, size, [](const Rect& r) { return std::log(double(r.width) / r.height); });
  EXPECT_LT(distance_to_uniform(ratios, std::log(0.75), std::log(4.0 / 3)), kBound);
}

TEST(RandomCropTest, PlacesAreUniform) {
  const auto places = drawn({.scale_max = 0.5}, {6000, 6000}, [](const Rect& r) { return r.x / (6000.0 - r.width); });
  EXPECT_LT(distance_to_uniform(places, 0, 1), kBound);
}

// 3,000,000 draws by torchvision's rule with NumPy's random numbers give 0.4329 on 500 x 375, with a deviation of
// 0.2166. 0.2166.
TEST(RandomCropTest, TriesThatDoNotFitAreDrawnAgainAsInTorchvision) {
  double sum = 0;
  for (const double area : drawn({}, {500, 375}, [](const Rect& r) { return double(r.width) * r.height / 187'500; }))
    sum += area;
  EXPECT_NEAR(sum / kDraws, 0.4329, 3.3 * 0.2166 / std::sqrt(kDraws));
}

TEST(RandomCropTest, StaysInsideAnyPicture) {
  for (const Size size : {Size{1, 1}, {1, 700}, {700, 1}, {3, 2}, {500, 375}}) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Rect crop = random_crop({}, size, {4, 0, i});
      ASSERT_GE(crop.width, 1u);
      ASSERT_GE(crop.height, 1u);
      ASSERT_LE(crop.x + crop.width, size.width);
      ASSERT_LE(crop.y + crop.height, size.height);
    }
  }
}

TEST(RandomCropTest, FallsBackToTheCentreOfAPictureThatIsTooNarrow) {
  // Whole area wanted: never fits at these ratios.
  const RandomResizedCrop whole{.scale_min = 1, .scale_max = 1};
  const Rect tall = random_crop(whole, {30, 400}, {});
  EXPECT_EQ((std::array{tall.x, tall.y, tall.width, tall.height}), (std::array{0u, 180u, 30u, 40u}));
  const Rect wide = random_crop(whole, {401, 30}, {});
  EXPECT_EQ((std::array{wide.x, wide.y, wide.width, wide.height}), (std::array{180u, 0u, 40u, 30u}));
}

TEST(ViewTest, ResizeAndCentreCropRoundAsTorchvision) {
  // 500 x 375 becomes 341 x 256, the crop begins at round(58.5) = 58 and 16.
  const View view = view_of(ResizeCenterCrop{.shorter_side = 256, .resized = {}}, {500, 375}, {});
  EXPECT_EQ(view.resized.width, 341u);
  EXPECT_EQ(view.resized.height, 256u);
  EXPECT_EQ(view.kept.x, 58u);
  EXPECT_EQ(view.kept.y, 16u);
  EXPECT_EQ(view.window.width, 500u);
}

TEST(GeometryTest, WhatCannotBeMadeIsRefused) {
  EXPECT_EQ(unusable(RandomResizedCrop{}), "");
  EXPECT_NE(unusable(RandomResizedCrop{.scale_min = 0}), "");
  EXPECT_NE(unusable(RandomResizedCrop{.ratio_min = 2, .ratio_max = 1}), "");
  EXPECT_NE(unusable(RandomResizedCrop{.size = {0, 5}}), "");
  EXPECT_NE(unusable(ResizeCenterCrop{.shorter_side = 200, .resized = {}}), "");
}

}  // namespace
}  // namespace fullbore::image
