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
    now += WindowPlan::kWindow_ns;
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
  EXPECT_LE(play(5'000'000, 500).cost_share, WindowPlan::kCostShare * 1.05);
  EXPECT_LE(play(12'000'000, 500).cost_share, WindowPlan::kCostShare * 1.05);
}

TEST(WindowPlanTest, TheRunFolderIsNotFilledByKernels) {
  EXPECT_LE(play(1'000'000, 6000).kernels_per_s, WindowPlan::kKernelsPerSecond * 1.1);
}

TEST(WindowPlanTest, ACostlyJobIsSeenTwiceInItsFirstSeconds) {
  WindowPlan plan;
  plan.spent(kSecond, 14'000'000, 6000);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kShortestPause_ns);
  plan.spent(2 * kSecond, 14'000'000, 6000);
  EXPECT_EQ(plan.next_ns() - 2 * kSecond, WindowPlan::kShortestPause_ns);
  plan.spent(3 * kSecond, 14'000'000, 6000);
  EXPECT_GT(plan.next_ns() - 3 * kSecond, 3 * kSecond);
}

TEST(WindowPlanTest, NoPauseIsLongerThanAMinute) {
  WindowPlan plan;
  plan.spent(kSecond, 60 * kSecond, 6000);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kLongestPause_ns);
}

}  // namespace
}  // namespace fullbore::inject
