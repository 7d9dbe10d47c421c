#include "cli/units.h"

#include <gtest/gtest.h>

namespace fullbore::cli {
namespace {

TEST(Units, ReadDurations) {
  EXPECT_EQ(*parse_duration_ns("60s"), 60'000'000'000);
  EXPECT_EQ(*parse_duration_ns("90"), 90'000'000'000);
  EXPECT_EQ(*parse_duration_ns("500ms"), 500'000'000);
  EXPECT_EQ(*parse_duration_ns("1.5h"), 5'400'000'000'000);
}

TEST(Units, ReadSizes) {
  EXPECT_EQ(*parse_bytes("1GB"), 1'000'000'000u);
  EXPECT_EQ(*parse_bytes("1GiB"), 1'073'741'824u);
  EXPECT_EQ(*parse_bytes("4096"), 4096u);
}

TEST(Units, ReadPrices) {
  EXPECT_DOUBLE_EQ(*parse_price_per_hour("25/h"), 25);
  EXPECT_DOUBLE_EQ(*parse_price_per_hour("0.5"), 0.5);
}

TEST(Units, RefuseWhatIsNone) {
  for (const char* text : {"", "s", "60x", "-5s", "0s", "1e400s", "nan", "inf", "99999999999999999999h"}) {
    EXPECT_FALSE(parse_duration_ns(text)) << text;
  }
  EXPECT_FALSE(parse_bytes("1G"));
  EXPECT_FALSE(parse_price_per_hour("25/day"));
  EXPECT_EQ(parse_duration_ns("soon").error().message(), "'soon' is no duration; write it as 60s, 5m or 1h");
}

}  // namespace
}  // namespace fullbore::cli
