#include "cli/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace fullbore::cli {
namespace {

TEST(ProgressTest, TheLineSaysHowFarHowFastAndHowLong) {
  EXPECT_EQ(progress_text("packing", 1200, 4000, 2'000'000'000, 100, 0),
            "packing: 1,200 of 4,000 (30 %), 600/s, 5 s left");
  EXPECT_EQ(progress_text("packing", 1200, 4000, 2'000'000'000, 100, 1000),
            "packing: 1,200 of 4,000 (30 %), 100/s, 28 s left");
  EXPECT_EQ(progress_text("packing", 0, 1'234'567, 2'000'000'000, 100, 0), "packing: 0 of 1,234,567 (0 %)");
  EXPECT_EQ(progress_text("packing", 1200, 4000, 2'000'000'000, 12, 0), "packing: 1,2");
}

// What a terminal gets when the work takes `seconds` and tells of itself ten times a second.
std::string drawn(int seconds) {
  int master = 0, slave = 0;
  EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  base::FakeClock clock(1);
  {
    ProgressLine line("packing", slave, clock);
    for (int i = 0; i < 10 * seconds; ++i) {
      line.show(static_cast<std::uint64_t>(i), 100);
      clock.advance_ns(100'000'000);
    }
  }
  ::close(slave);
  std::string text;
  char some[256];
  for (ssize_t got = 0; (got = ::read(master, some, sizeof(some))) > 0;)
    text.append(some, static_cast<std::size_t>(got));
  ::close(master);
  return text;
}

TEST(ProgressTest, WorkOfTwoSecondsIsNotTalkedAbout) {
  EXPECT_EQ(drawn(2), "");
}

TEST(ProgressTest, LongerWorkIsShownFiveTimesASecondAndTakenAwayAtTheEnd) {
  const std::string text = drawn(3);
  EXPECT_EQ(std::count(text.begin(), text.end(), '%'), 5);
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace fullbore::cli
