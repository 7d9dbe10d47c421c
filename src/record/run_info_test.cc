#include "record/run_info.h"

#include <gmock/gmock.h>

namespace fullbore::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(RunInfoTest, ComesBackAsWritten) {
  RunInfo info;
  info.command = {"python", "train.py", "--lr", "0.1"};
  info.start_ns = 123456789012345;
  info.exit_code = 3;
  info.environment = {{"RANK", "1"}};
  info.ceilings = {{"pinned_h2d_gb_per_s", 55.25}};
  info.missing = {{"pressure", "no PSI in this kernel"}};
  const RunInfo back = parse_run_info(to_json(info)).value();
  EXPECT_EQ(back.command, info.command);
  EXPECT_EQ(back.start_ns, info.start_ns);
  EXPECT_EQ(back.exit_code, 3);
  EXPECT_THAT(back.environment, ElementsAre(Pair("RANK", "1")));
  EXPECT_THAT(back.ceilings, ElementsAre(Pair("pinned_h2d_gb_per_s", 55.25)));
  EXPECT_THAT(back.missing, ElementsAre(Pair("pressure", "no PSI in this kernel")));
}

TEST(RunInfoTest, WhatIsNotKnownStaysUnknown) {
  const RunInfo back = parse_run_info(to_json(RunInfo{})).value();
  EXPECT_FALSE(back.end_ns);
  EXPECT_FALSE(back.exit_code);
  EXPECT_FALSE(back.collector_cpu_s);
  EXPECT_TRUE(back.ceilings.empty());
}

TEST(RunInfoTest, KeepsACommandThatIsNotUtf8Readable) {
  RunInfo info;
  info.command = {"python", "\xff\xfe.py"};
  EXPECT_EQ(parse_run_info(to_json(info)).value().command[0], "python");
}

TEST(RunInfoTest, SaysWhyAFileIsRefused) {
  EXPECT_THAT(parse_run_info("{").error().message(), HasSubstr("not JSON"));
  EXPECT_THAT(parse_run_info("{}").error().message(), HasSubstr("no format number"));
  EXPECT_THAT(parse_run_info(R"({"format": 99, "fullbore_version": "9.0"})").error().message(),
              HasSubstr("format 99 was written by Fullbore 9.0"));
  EXPECT_THAT(parse_run_info(R"({"format": 1, "command": 5})").error().message(), HasSubstr("damaged"));
}

}  // namespace
}  // namespace fullbore::record
