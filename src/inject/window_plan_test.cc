#include "inject/window_plan.h"

#include <gtest/gtest.h>

namespace fullbore::inject {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Plays windows of a job for ten minutes. Each costs `cost_ns` and has `kernels`; returns how many there were.
struct Played {
  double windows = 0;
  double cost_share = 0;
  double kernels_per_s = 0;
};
Played play(std::int64_t cost_ns, std::uint32_t kernels) {
  WindowPlan plan;
  Played played;
  std::int64_t now = kSecond;
  const std::int64_t begin = now;
  while (now < begin + 600 * kSecond) {
    now += WindowEnd::kShortest_ns;
    plan.spent(now, cost_ns, kernels);
    ++played.windows;
    now = plan.next_ns();
  }
  const auto elapsed = static_cast<double>(now - begin);
  played.cost_share = played.windows * static_cast<double>(cost_ns) / elapsed;
  played.kernels_per_s = played.windows * kernels / elapsed * 1e9;
  return played;
}

TEST(WindowPlanTest, CheapWindowsComeEverySecond) {
  EXPECT_NEAR(play(100'000, 50).windows, 600, 10);
}

TEST(WindowPlanTest, CostStaysWithinItsShareInTheLongRun) {
  const double most = WindowPlan::kCostShare * 1.02 + static_cast<double>(WindowPlan::kCostCredit_ns) / 600e9;
  EXPECT_LE(play(5'000'000, 500).cost_share, most);
  EXPECT_LE(play(12'000'000, 500).cost_share, most);
}

TEST(WindowPlanTest, TheRunFolderIsNotFilledByKernels) {
  EXPECT_LE(play(1'000'000, 4000).kernels_per_s,
            WindowPlan::kKernelsPerSecond * 1.02 + WindowPlan::kKernelCredit / 600);
}

TEST(WindowPlanTest, ACostlyJobIsSeenThriceInItsFirstSeconds) {
  WindowPlan plan;
  for (std::int64_t at = kSecond; at <= 3 * kSecond; at += kSecond) {
    plan.spent(at, 45'000'000, 9000);
    EXPECT_EQ(plan.next_ns() - at, WindowPlan::kShortestPause_ns);
  }
  plan.spent(4 * kSecond, 45'000'000, 9000);
  EXPECT_GT(plan.next_ns() - 4 * kSecond, 3 * kSecond);
}

TEST(WindowPlanTest, ALargerShareBringsMoreWindows) {
  WindowPlan plan;
  plan.set_share(1);
  for (std::int64_t at = kSecond; at <= 10 * kSecond; at += kSecond) {
    plan.spent(at, 100'000'000, 100);
    EXPECT_EQ(plan.next_ns() - at, WindowPlan::kShortestPause_ns);
  }
}

TEST(WindowPlanTest, NoPauseIsLongerThanTwoMinutes) {
  WindowPlan plan;
  plan.spent(kSecond, 60 * kSecond, 6000);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kLongestPause_ns);
}

TEST(WindowPlanTest, AWindowMayHoldStepsOfTenThousandKernelsWhichAreThenPaidFor) {
  WindowPlan plan;
  const std::uint32_t kernels = plan.most_kernels(kSecond);
  EXPECT_GE(kernels, 30'000u);
  const std::int64_t cost_ns = kernels * WindowPlan::kKernelCost_ns + 15'000'000;
  const double most = WindowPlan::kCostShare * 1.02 + static_cast<double>(WindowPlan::kCostCredit_ns) / 600e9;
  EXPECT_LE(play(cost_ns, kernels).cost_share, most);
  EXPECT_LE(play(cost_ns, kernels).kernels_per_s,
            WindowPlan::kKernelsPerSecond * 1.02 + (WindowPlan::kKernelCredit + kernels) / 600);
}

TEST(WindowPlanTest, AHostThatStoodStillIsLeftAloneTwentyTimesAsLong) {
  WindowPlan plan;
  plan.spent(kSecond, 1'000'000, 100);
  plan.rest_after_wait(kSecond, 0);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kShortestPause_ns);
  plan.rest_after_wait(kSecond, kSecond / 2);
  EXPECT_EQ(plan.next_ns() - kSecond, 10 * kSecond);
  plan.rest_after_wait(kSecond, 60 * kSecond);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kLongestPause_ns);
}

TEST(WindowPlanTest, ASmallShareBuysFewKernels) {
  WindowPlan plan;
  plan.set_share(1e-5);
  plan.spent(kSecond, WindowPlan::kCostCredit_ns, 0);
  EXPECT_EQ(plan.most_kernels(2 * kSecond), WindowEnd::kManyKernels);
  plan.set_share(2e-4);
  EXPECT_NEAR(plan.most_kernels(2 * kSecond), 6000, 100);
}

TEST(WindowPlanTest, TheFirstTenIterationsAreNotWorthTheCredit) {
  WindowPlan plan;
  EXPECT_TRUE(plan.is_too_early(kSecond, {0, 0}));
  EXPECT_TRUE(plan.is_too_early(3 * kSecond, {1, 0}));
  EXPECT_TRUE(plan.is_too_early(12 * kSecond, {9, 9}));
  EXPECT_FALSE(plan.is_too_early(13 * kSecond, {10, 9}));
}

TEST(WindowPlanTest, AProgramThatNeverBeginsIsLookedAtEveryTenSeconds) {
  WindowPlan plan;
  EXPECT_TRUE(plan.is_too_early(kSecond, {0, 0}));
  EXPECT_FALSE(plan.is_too_early(11 * kSecond, {0, 0}));
  EXPECT_TRUE(plan.is_too_early(20 * kSecond, {0, 0}));
  EXPECT_FALSE(plan.is_too_early(21 * kSecond, {0, 0}));
}

TEST(WindowPlanTest, IterationsOfManySecondsAreNotCountedToTen) {
  WindowPlan plan;
  EXPECT_TRUE(plan.is_too_early(20 * kSecond, {1, 1}));
  EXPECT_FALSE(plan.is_too_early(50 * kSecond, {5, 5}));
}

TEST(WindowPlanTest, WithAFullShareNothingIsSaved) {
  WindowPlan plan;
  plan.set_share(1);
  EXPECT_FALSE(plan.is_too_early(kSecond, {0, 0}));
}

}  // namespace
}  // namespace fullbore::inject
