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
  const double most = WindowPlan::kCostShare * 1.02 + static_cast<double>(WindowPlan::kCostCredit_ns) / 600e9;
  EXPECT_LE(play(5'000'000, 500).cost_share, most);
  EXPECT_LE(play(12'000'000, 500).cost_share, most);
}

TEST(WindowPlanTest, TheRunFolderIsNotFilledByKernels) {
  EXPECT_LE(play(1'000'000, 4000).kernels_per_s, WindowPlan::kKernelsPerSecond * 1.1);
}

TEST(WindowPlanTest, ACostlyJobIsSeenThriceInItsFirstSeconds) {
  WindowPlan plan;
  for (std::int64_t at = kSecond; at <= 3 * kSecond; at += kSecond) {
    plan.spent(at, 30'000'000, 4000);
    EXPECT_EQ(plan.next_ns() - at, WindowPlan::kShortestPause_ns);
  }
  plan.spent(4 * kSecond, 30'000'000, 4000);
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

TEST(WindowPlanTest, NoPauseIsLongerThanAMinute) {
  WindowPlan plan;
  plan.spent(kSecond, 60 * kSecond, 6000);
  EXPECT_EQ(plan.next_ns() - kSecond, WindowPlan::kLongestPause_ns);
}

}  // namespace
}  // namespace fullbore::inject
