#include "feed/image/shuffle.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace fullbore::image {
namespace {

std::vector<std::uint64_t> order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) {
  const Shuffle shuffle(size, seed, epoch);
  std::vector<std::uint64_t> samples;
  for (std::uint64_t i = 0; i < size; ++i) samples.push_back(shuffle.at(i));
  return samples;
}

TEST(ShuffleTest, EverySampleComesOnce) {
  for (const std::uint64_t size : {1u, 2u, 3u, 5u, 16u, 17u, 1000u, 65537u}) {
    std::vector<bool> seen(size);
    for (const std::uint64_t sample : order(size, 3, 4)) {
      ASSERT_LT(sample, size);
      ASSERT_FALSE(seen[sample]) << size;
      seen[sample] = true;
    }
  }
}

TEST(ShuffleTest, EpochsAndSeedsOrderDifferently) {
  EXPECT_EQ(order(1000, 1, 1), order(1000, 1, 1));
  EXPECT_NE(order(1000, 1, 1), order(1000, 1, 2));
  EXPECT_NE(order(1000, 1, 1), order(1000, 2, 1));
}

TEST(ShuffleTest, AllOrdersOfAFewSamplesAreAboutEquallyFrequent) {
  constexpr int kEpochs = 24'000;
  std::map<std::vector<std::uint64_t>, int> counts;
  for (int epoch = 0; epoch < kEpochs; ++epoch) ++counts[order(4, 7, static_cast<std::uint64_t>(epoch))];
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [samples, count] : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom, p = 0.001
}

TEST(ShuffleTest, NeighboursAreNoNeighboursAfterwards) {
  // The mean distance between two independent places in [0, n) is n / 3.
  const auto samples = order(100'000, 1, 0);
  double sum = 0;
  for (std::size_t i = 1; i < samples.size(); ++i)
    sum += std::abs(static_cast<double>(samples[i]) - static_cast<double>(samples[i - 1]));
  EXPECT_NEAR(sum / 99'999 / 100'000, 1.0 / 3, 0.005);
}

}  // namespace
}  // namespace fullbore::image
