#include "inject/clock_map.h"

#include <gtest/gtest.h>

namespace fullbore::inject {
namespace {

TEST(ClockMapTest, BetweenTwoPairsTimeIsLinear) {
  ClockMap clock;
  clock.add({1000, 501'000, 1});
  clock.add({2000, 502'100, 1});  // the device's clock gains 10 %
  EXPECT_EQ(clock.monotonic(501'550), 1500);
}

TEST(ClockMapTest, OutsideThePairsTheNearestOffsetHolds) {
  ClockMap clock;
  clock.add({1000, 501'000, 1});
  clock.add({2000, 502'100, 1});
  EXPECT_EQ(clock.monotonic(500'000), 0);
  EXPECT_EQ(clock.monotonic(503'100), 3000);
}

TEST(ClockMapTest, AClockThatWasSetBackIsFollowed) {
  ClockMap clock;
  clock.add({1000, 501'000, 1});
  clock.add({2000, 402'000, 1});
  EXPECT_EQ(clock.monotonic(402'500), 2500);
}

TEST(ClockMapTest, ManyPairsLaterTheOldestKnownStillHolds) {
  ClockMap clock;
  for (std::int64_t i = 0; i < 100; ++i) clock.add({i * 1000, i * 1000 + 77, 1});
  EXPECT_EQ(clock.monotonic(1077), 1000);
  EXPECT_EQ(clock.monotonic(99'577), 99'500);
}

TEST(ClockMapTest, DriftIsAgainstThePairBefore) {
  ClockMap clock;
  bool known = true;
  clock.add({1000, 501'000, 1});
  clock.last_drift_ns(known);
  EXPECT_FALSE(known);
  clock.add({2000, 502'100, 1});
  EXPECT_EQ(clock.last_drift_ns(known), -100);
  EXPECT_TRUE(known);
}

}  // namespace
}  // namespace fullbore::inject
