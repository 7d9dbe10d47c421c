#include "diagnose/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullbore::diagnose {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

TEST(Statistics, AnEmptySampleHasNoValue) {
  EXPECT_FALSE(mean({}));
  EXPECT_FALSE(median({}));
  EXPECT_FALSE(standard_error({1}));
}

TEST(Statistics, QuantilesAreNearestRanks) {
  EXPECT_THAT(quantile({5, 1, 3, 2, 4}, 0.5), Optional(3.0));
  EXPECT_THAT(quantile({5, 1, 3, 2, 4}, 1), Optional(5.0));
  EXPECT_THAT(quantile({7}, 0.99), Optional(7.0));
}

TEST(Statistics, BurstsAreCorrelatedAndAlternationIsNot) {
  EXPECT_GT(*autocorrelation({1, 1, 1, 1, 9, 9, 9, 9}), 0.4);
  EXPECT_LT(*autocorrelation({1, 9, 1, 9, 1, 9, 1, 9}), -0.5);
  EXPECT_FALSE(autocorrelation({3, 3, 3, 3, 3, 3, 3, 3}));
}

TEST(Statistics, StandardErrorGrowsWhereNeighboursResemble) {
  EXPECT_THAT(standard_error({1, 9, 1, 9, 1, 9, 1, 9}), Optional(DoubleNear(1.512, 0.01)));
  EXPECT_GT(*standard_error({1, 1, 1, 1, 9, 9, 9, 9}), 2.0);
}

}  // namespace
}  // namespace fullbore::diagnose
