#include "report/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

TEST(Limit, HoldsAShareOfTheStep) {
  const auto limit = parse_limit("input_wait=5%");
  ASSERT_TRUE(limit);
  EXPECT_DOUBLE_EQ(limit->above, 0.05);
  EXPECT_EQ(measured(testing::no_workers_run(), *limit), 0.612);
  EXPECT_EQ(exceeded_text(*limit, 0.612), "input_wait is 61.2 %, above the limit of 5.0 %");
}

TEST(Limit, HoldsMilliseconds) {
  EXPECT_EQ(measured(testing::no_workers_run(), *parse_limit("input_wait=20ms")), 99.8);
  EXPECT_EQ(measured(testing::no_workers_run(), *parse_limit("p99_ms=200")), 201.3);
}

TEST(Limit, HasNoValueForWhatWasNotMeasured) {
  EXPECT_EQ(measured(testing::no_workers_run(), *parse_limit("gpu_compute=5%")), std::nullopt);
  EXPECT_EQ(measured(testing::short_run(), *parse_limit("p50_ms=5")), std::nullopt);
}

TEST(Limit, RefusesWhatItCannotRead) {
  for (const char* text :
       {"input_wait", "input_wait=", "input_wait=5", "input_wait=x%", "input_wait=-5%", "p99_ms=5%", "wait=5%"}) {
    EXPECT_FALSE(parse_limit(text)) << text;
  }
  EXPECT_THAT(parse_limit("wait=5%").error().message(),
              ::testing::StartsWith("no number 'wait' to limit; known are input_wait,"));
}

}  // namespace
}  // namespace fullbore::report
