#include "diagnose/lines.h"

#include <gmock/gmock.h>

namespace fullbore::diagnose {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ProfiledLine line_at(int line, double share, wire::Stage stage) {
  ProfiledLine made;
  made.where = {"train.py", line, ""};
  made.share = share;
  made.stage = stage;
  return made;
}

Profile loop_of(std::vector<ProfiledLine> lines) {
  Profile profile;
  profile.loop.lines = std::move(lines);
  profile.loop.windows = 10;
  profile.loop.window_ns = 1;
  return profile;
}

TEST(LinesTest, TheWaitIsThatOfTheAccountAndTheOthersShareTheRest) {
  // Windows at the start saw 60 % waiting; over all steady iterations it was 10 ms of 100.
  const Profile profile = loop_of({line_at(5, 0.6, wire::Stage::kWait), line_at(6, 0.3, wire::Stage::kModel),
                                   line_at(7, 0.1, wire::Stage::kBlocking)});
  const auto lines = loop_lines(profile, 100, 10);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0].ms, DoubleNear(10, 1e-9));
  EXPECT_THAT(lines[1].ms, DoubleNear(67.5, 1e-9));
  EXPECT_THAT(lines[2].ms, DoubleNear(22.5, 1e-9));
}

TEST(LinesTest, WhatNoLineTookIsListedSoThatTheySumToTheStep) {
  const auto lines =
      loop_lines(loop_of({line_at(5, 0.5, wire::Stage::kWait), line_at(6, 0.4, wire::Stage::kModel)}), 50, 25);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[2].kind, "rest");
  EXPECT_THAT(lines[0].share + lines[1].share + lines[2].share, DoubleNear(1, 1e-9));
}

TEST(LinesTest, WithoutALineThatWaitsTheWindowsStandAsTheyAre) {
  const auto lines = loop_lines(loop_of({line_at(6, 0.8, wire::Stage::kModel)}), 100, 30);
  EXPECT_THAT(lines.at(0).ms, DoubleNear(80, 1e-9));
}

TEST(LinesTest, NothingTimedIsNothingListed) {
  EXPECT_THAT(loop_lines({}, 100, 10), IsEmpty());
  EXPECT_THAT(dataset_lines({}, 10, 10, 100), IsEmpty());
}

}  // namespace
}  // namespace fullbore::diagnose
