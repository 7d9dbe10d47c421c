#include "record/thinning.h"

#include <gmock/gmock.h>

namespace fullbore::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(SampleThinnerTest, KeepsEverySampleOfASlowLoader) {
  SampleThinner thinner(150);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(thinner.keep(i * kSecond / 100, 5));
}

TEST(SampleThinnerTest, TakesAFastLoaderAtEvenSpacing) {
  SampleThinner thinner(150);
  std::vector<int> kept;
  for (int i = 0; i < 5 * 6000; ++i) {
    if (thinner.keep(i * kSecond / 6000, 5) && i >= 6000) kept.push_back(i);
  }
  EXPECT_NEAR(static_cast<double>(kept.size()), 4 * 150, 10);
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_EQ(kept[i] - kept[i - 1], 40);
}

TEST(SampleThinnerTest, NeverLosesTheSlowestOfAMinute) {
  SampleThinner thinner(150);
  int kept_slow = 0;
  for (int i = 0; i < 60'000; ++i) {
    const bool slow = i % 1000 == 777;
    const bool kept = thinner.keep(i * kSecond / 1000, slow ? 900 : 5 + i % 3);
    kept_slow += slow && kept ? 1 : 0;
  }
  EXPECT_EQ(kept_slow, 60);
}

TEST(BudgetTest, AllowsDetailsAgainInTheNextMinute) {
  Budget budget(1000);
  EXPECT_TRUE(budget.details_allowed(0));
  budget.spent(kSecond, 1000);
  EXPECT_FALSE(budget.details_allowed(2 * kSecond));
  EXPECT_TRUE(budget.details_allowed(60 * kSecond));
}

}  // namespace
}  // namespace fullbore::record
