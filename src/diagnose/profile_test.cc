#include "diagnose/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::kTrainerPid;
using testing::ms;
using testing::RunBuilder;
using testing::simulate;

class ReadProfile : public ::testing::Test {
 protected:
  void SetUp() override { builder_.run = simulate({.workers = 0, .batches = 10, .stages = {}}); }

  void add(wire::Where where, int line, wire::Stage stage, double wall_ms, const char* callee, double window_ms = 100,
           double time_ms = 1000) {
    wire::ProfileRecord record{};
    record.time_ns = ms(time_ms);
    record.wall_ns = ms(wall_ms);
    record.window_ns = ms(window_ms);
    record.loader = 1;
    record.where = where;
    record.stage = stage;
    record.line = line;
    record.count = 20;
    record.windows = 10;
    record.file = builder_.name("data.py");
    record.name = builder_.name(callee);
    builder_.rank().profile.push_back({record, kTrainerPid, kTrainerPid});
  }

  Profile read() {
    run_ = builder_.take();
    return read_profile(run_, find_trainers(run_).at(0));
  }

  RunBuilder builder_;
  record::Run run_;
};

TEST_F(ReadProfile, CalleesNameTheStagesAndTheRestIsUserCode) {
  add(wire::Where::kDataset, 18, wire::Stage::kDecode, 80, "");
  add(wire::Where::kDataset, 18, wire::Stage::kDecode, 60, "PIL.Image.Image.load");
  add(wire::Where::kDataset, 18, wire::Stage::kOpen, 10, "PIL.Image.open");
  const PlaceProfile place = read().dataset;
  EXPECT_NEAR(place.share(wire::Stage::kDecode), 0.6, 1e-9);
  EXPECT_NEAR(place.share(wire::Stage::kOpen), 0.1, 1e-9);
  EXPECT_NEAR(place.share(wire::Stage::kUserCode), 0.3, 1e-9);
  EXPECT_EQ(place.main_stage(), wire::Stage::kDecode);
  ASSERT_EQ(place.lines.size(), 1u);
  EXPECT_NEAR(place.lines[0].share, 0.8, 1e-9);
  EXPECT_EQ(place.lines[0].callee, "PIL.Image.Image.load");
  EXPECT_EQ(place.lines[0].where.line, 18);
  EXPECT_NEAR(place.lines[0].per_window, 2, 1e-9);
}

TEST_F(ReadProfile, AWindowCountsOncePerFlush) {
  add(wire::Where::kDataset, 18, wire::Stage::kRead, 50, "read", 100, 1000);
  add(wire::Where::kDataset, 19, wire::Stage::kRead, 50, "read", 100, 1000);
  add(wire::Where::kDataset, 18, wire::Stage::kRead, 100, "read", 100, 2000);
  EXPECT_NEAR(read().dataset.share(wire::Stage::kRead), 1, 1e-9);
}

TEST_F(ReadProfile, KeepsLoopDatasetAndCollateApart) {
  add(wire::Where::kLoop, 5, wire::Stage::kWait, 70, "");
  add(wire::Where::kCollate, 7, wire::Stage::kCollate, 90, "");
  const Profile profile = read();
  EXPECT_EQ(profile.loop.lines.at(0).stage, wire::Stage::kWait);
  EXPECT_EQ(profile.collate.lines.at(0).where.line, 7);
  EXPECT_FALSE(profile.dataset.measured());
  EXPECT_EQ(profile.dataset.main_stage(), wire::Stage::kUnspecified);
}

}  // namespace
}  // namespace fullbore::diagnose
