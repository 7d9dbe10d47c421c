#include "feed/image/pool_report.h"

#include <gtest/gtest.h>

namespace fullbore::image {
namespace {

constexpr std::int64_t kMs = 1'000'000;

PoolReport after_two_batches(double wait_ms) {
  PoolReport report{.threads = 14, .working = 6};
  const BatchTimes times{.read_ms = 1, .decode_ms = 38, .finish_ms = 1};
  report.add(times, 100, 0, 500 * kMs);  // the first one waits for the threads to start
  report.add(times, 100, 600 * kMs - static_cast<std::int64_t>(wait_ms * kMs), 600 * kMs);
  return report;
}

TEST(PoolReport, ItNamesThreadsCostAndWhatElseIsTheLimit) {
  EXPECT_EQ(explain(after_two_batches(1)),
            "6 of 14 threads work: the caller needs no more, and more would disturb it.\n"
            "A picture takes 0.400 ms of a thread: 0.010 to read, 0.380 to decode, 0.010 to finish.\n"
            "The caller waited 1.0 % of its time; what else it does is the limit, not this loader.\n");
}

TEST(PoolReport, ACallerThatWaitsIsToldSo) {
  PoolReport report = after_two_batches(20);
  report.working = 14;
  const std::string text = explain(report);
  EXPECT_EQ(text.find("All 14 threads work.\n"), 0u);
  EXPECT_NE(text.find("waited 20.0 % of its time; it would be faster"), std::string::npos);
}

TEST(PoolReport, BeforeTheSecondBatchNothingIsSaidOfWaits) {
  EXPECT_EQ(explain({.threads = 2, .working = 2}),
            "All 2 threads work.\nNot measured yet: what the caller waits, from two batches on.\n");
}

}  // namespace
}  // namespace fullbore::image
