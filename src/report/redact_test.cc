#include "report/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/json.h"
#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

TEST(Redact, KeepsTheNameOfASourceFileOnly) {
  EXPECT_EQ(redacted("at /home/ada/train.py:41", ""), "at train.py:41");
  EXPECT_EQ(redacted("open('/data/patient-7.jpg')", ""), "open('<path>')");
  EXPECT_EQ(redacted("~/sets/a", ""), "<path>");
}

TEST(Redact, LeavesWhatIsNoPath) {
  EXPECT_EQ(redacted("392 samples/s, 1/2, a / b", ""), "392 samples/s, 1/2, a / b");
}

TEST(Redact, HidesTheHost) {
  EXPECT_EQ(redacted("disk of gpu-7 is slow", "gpu-7"), "disk of <host> is slow");
}

TEST(Redact, HidesTheFolderInADiff) {
  EXPECT_EQ(redacted("--- a/home/ada/train.py\n+++ b/home/ada/train.py\n", ""), "--- a/train.py\n+++ b/train.py\n");
}

TEST(Redact, LeavesNoFolderInTheWholeReport) {
  auto d = testing::fixed_run();
  d.causes = testing::no_workers_run().causes;
  d.facts["host"] = "gpu-7";
  d.environment["PYTHONPATH"] = "/home/ada/lib";
  redact(d, "gpu-7");
  const std::string json = to_json(d);
  EXPECT_THAT(json, ::testing::Not(::testing::HasSubstr("/home")));
  EXPECT_THAT(json, ::testing::Not(::testing::HasSubstr("gpu-7")));
  EXPECT_THAT(json, ::testing::HasSubstr("\"train.py\""));
}

}  // namespace
}  // namespace fullbore::report
