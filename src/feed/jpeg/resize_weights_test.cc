#include "feed/jpeg/resize_weights.h"

#include <gtest/gtest.h>

namespace fullbore::jpeg {
namespace {

std::int32_t weight(const AxisWeights& axis, std::uint32_t out, std::uint32_t tap) {
  const WeightPair& pair = axis.weights(out)[tap / 2];
  return pair.high[tap % 2] * 4096 + pair.low[tap % 2];
}

TEST(ResizeWeightsTest, WeightsOfEachOutputAddUpToOne) {
  for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
    for (const auto& [in, out] : {std::pair{500u, 224u}, {224u, 224u}, {3u, 224u}, {5000u, 7u}, {1u, 1u}}) {
      AxisWeights axis;
      axis.make(in, out, filter);
      for (std::uint32_t x = 0; x < out; ++x) {
        std::int64_t sum = 0;
        for (std::uint32_t tap = 0; tap < axis.count(x); ++tap) sum += weight(axis, x, tap);
        EXPECT_NEAR(static_cast<double>(sum), 1 << kWeightBits, axis.count(x)) << in << " to " << out << " at " << x;
        EXPECT_LE(axis.first(x) + axis.count(x), in);
      }
    }
  }
}

TEST(ResizeWeightsTest, TheSameSizeIsTheIdentity) {
  AxisWeights axis;
  axis.make(10, 10, Filter::kBicubic);
  for (std::uint32_t x = 0; x < 10; ++x) {
    for (std::uint32_t tap = 0; tap < axis.count(x); ++tap) {
      EXPECT_EQ(weight(axis, x, tap), axis.first(x) + tap == x ? 1 << kWeightBits : 0);
    }
  }
}

TEST(ResizeWeightsTest, HalvingTakesATriangleOfFourTaps) {
  AxisWeights axis;
  axis.make(8, 4, Filter::kBilinear);
  EXPECT_EQ(axis.first(1), 1u);
  EXPECT_EQ(axis.count(1), 4u);
  EXPECT_EQ(weight(axis, 1, 0), (1 << kWeightBits) / 8);
  EXPECT_EQ(weight(axis, 1, 1), (1 << kWeightBits) * 3 / 8);
}

}  // namespace
}  // namespace fullbore::jpeg
