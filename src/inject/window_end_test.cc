#include "inject/window_end.h"

#include <gtest/gtest.h>

namespace fullbore::inject {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint32_t kMost = 40'000;

// A window that begins at 0, when the loop has gone round ten times and optimisers have stepped ten times.
WindowEnd begun() {
  WindowEnd end;
  end.begin(0, {10, 10}, kMost);
  return end;
}

TEST(WindowEndTest, WithoutACountItIsAQuarterOfASecondOrManyKernels) {
  WindowEnd end;
  end.begin(0, {}, kMost);
  EXPECT_FALSE(end.is_reached(249 * kMs, {}, 3999));
  EXPECT_TRUE(end.is_reached(250 * kMs, {}, 0));
  EXPECT_TRUE(end.is_reached(25 * kMs, {}, 4000));
}

TEST(WindowEndTest, SlowStepsAreWaitedFor) {
  WindowEnd end = begun();
  EXPECT_FALSE(end.is_reached(3'900 * kMs, {13, 13}, 300));
  EXPECT_FALSE(end.is_reached(4'000 * kMs, {14, 14}, 300)) << "the fourth step has no kernel yet";
  EXPECT_TRUE(end.is_reached(4'100 * kMs, {14, 14}, 301));
}

TEST(WindowEndTest, AFifthIterationNeedsNoKernel) {
  WindowEnd end = begun();
  EXPECT_FALSE(end.is_reached(1'000 * kMs, {14, 14}, 300));
  EXPECT_TRUE(end.is_reached(1'025 * kMs, {15, 15}, 300));
}

TEST(WindowEndTest, FastStepsStillTakeAQuarterOfASecond) {
  WindowEnd end = begun();
  EXPECT_FALSE(end.is_reached(100 * kMs, {20, 20}, 500));
  EXPECT_TRUE(end.is_reached(250 * kMs, {35, 35}, 1000));
}

TEST(WindowEndTest, ManyKernelsEndItOnceStepsAreWhole) {
  WindowEnd end = begun();
  EXPECT_FALSE(end.is_reached(75 * kMs, {11, 11}, 12'000));
  EXPECT_TRUE(end.is_reached(200 * kMs, {15, 15}, 38'000));
}

TEST(WindowEndTest, TheMostKernelsEndItHoweverManySteps) {
  WindowEnd end = begun();
  EXPECT_TRUE(end.is_reached(75 * kMs, {10, 10}, kMost));
}

TEST(WindowEndTest, ALoopThatStandsStillIsNotWaitedForLongerThanTwentySeconds) {
  WindowEnd end = begun();
  EXPECT_FALSE(end.is_reached(19'999 * kMs, {11, 11}, 0));
  EXPECT_TRUE(end.is_reached(20'000 * kMs, {11, 11}, 0));
}

TEST(WindowEndTest, OptimisersCountWhereThereIsNoLoader) {
  WindowEnd end;
  end.begin(0, {0, 10}, kMost);
  EXPECT_FALSE(end.is_reached(500 * kMs, {0, 13}, 100));
  EXPECT_TRUE(end.is_reached(600 * kMs, {0, 15}, 100));
}

TEST(WindowEndTest, SeveralOptimisersOfOneIterationAreOneIteration) {
  WindowEnd end = begun();
  end.begin(0, {12, 20}, kMost);
  EXPECT_FALSE(end.is_reached(500 * kMs, {12, 25}, 100)) << "five steps of a critic before the next batch";
  EXPECT_TRUE(end.is_reached(5'000 * kMs, {17, 50}, 100));
}

TEST(WindowEndTest, ALoopWithoutALoaderIsCountedAgainAfterAValidationWithOne) {
  WindowEnd end = begun();
  end.begin(0, {20, 20}, kMost);
  end.begin(30'000 * kMs, {20, 40}, kMost);
  EXPECT_TRUE(end.is_reached(31'000 * kMs, {20, 45}, 100));
}

}  // namespace
}  // namespace fullbore::inject
