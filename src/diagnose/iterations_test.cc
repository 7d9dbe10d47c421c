#include "diagnose/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::ms;
using testing::simulate;

Iterations cut(const record::Run& run) {
  return cut_iterations(find_trainers(run).at(0));
}

TEST(WarmupLength, EndsWhenTwoWindowsOfFiveAgree) {
  std::vector<std::int64_t> wall(100, ms(10));
  EXPECT_EQ(warmup_length(wall), 5u);
  for (std::size_t i = 0; i < 7; ++i) wall[i] = ms(100);
  EXPECT_EQ(warmup_length(wall), 10u);
}

TEST(WarmupLength, IsAtMostTwentyOrAQuarter) {
  std::vector<std::int64_t> slower;
  for (int i = 0; i < 100; ++i) slower.push_back(ms(i * i * i + 1));
  EXPECT_LE(warmup_length(slower), 20u);
  slower.resize(12);
  EXPECT_EQ(warmup_length(slower), 3u);
  EXPECT_EQ(warmup_length({}), 0u);
}

TEST(Iterations, RunFromWaitToWait) {
  const record::Run run =
      simulate({.workers = 0, .batches = 30, .body_ms = 50, .sample_ms = 1, .collate_ms = 1, .handoff_ms = 0});
  const Iterations iterations = cut(run);
  ASSERT_EQ(iterations.all.size(), 30u);
  EXPECT_EQ(iterations.all[10].wall_ns(), ms(83));
  EXPECT_EQ(iterations.all[10].wait_ns(), ms(33));
  EXPECT_EQ(iterations.all[10].optimizer_steps, 1);
  EXPECT_EQ(iterations.warmup, 5u);
  EXPECT_EQ(iterations.steady, 25u);
}

TEST(Iterations, FirstOfEachEpochStandsApart) {
  const record::Run run = simulate({.workers = 2, .epochs = 4, .batches = 20, .persistent = false, .start_ms = 500});
  for (const Iteration& iteration : cut(run).all) EXPECT_FALSE(iteration.first && iteration.steady);
}

TEST(Iterations, ALoopThatIsLeftEarlyLeavesNoStep) {
  record::Run run = simulate({.workers = 0, .epochs = 3, .batches = 20, .validation_ms = 500});
  std::erase_if(run.ranks[0].nexts,
                [](const auto& next) { return next.record.loader == 1 && (next.record.flags & wire::kStop) != 0; });
  int edges = 0;
  for (const Iteration& iteration : cut(run).all) {
    edges += iteration.edge ? 1 : 0;
    EXPECT_FALSE(iteration.edge && iteration.steady);
  }
  EXPECT_EQ(edges, 2);
}

TEST(Iterations, StepsWithACheckpointAreNotTypical) {
  const record::Run run = simulate({.workers = 0, .checkpoint_every = 10, .checkpoint_ms = 100});
  const Iterations iterations = cut(run);
  for (const Iteration& iteration : iterations.all) EXPECT_FALSE(iteration.paused && iteration.steady);
  EXPECT_GT(iterations.steady, 90u);
}

TEST(Iterations, ACheckpointInEveryStepIsTypical) {
  const record::Run run = simulate({.workers = 0, .checkpoint_every = 1, .checkpoint_ms = 100});
  EXPECT_GT(cut(run).steady, 100u);
}

TEST(Iterations, TracedOnesAreKeptOut) {
  record::Run run = simulate({.workers = 2, .batches = 60});
  run.ranks[0].nexts[31].record.flags |= wire::kTraced;
  const Iterations iterations = cut(run);
  EXPECT_TRUE(iterations.all[30].traced);
  EXPECT_FALSE(iterations.all[30].steady);
  EXPECT_TRUE(iterations.all[31].steady);
}

TEST(Iterations, LostRecordsLeaveAHoleAndNoLongStep) {
  record::Run run = simulate({.workers = 2, .batches = 60});
  auto& nexts = run.ranks[0].nexts;
  nexts.erase(nexts.begin() + 30, nexts.begin() + 40);
  const Iterations iterations = cut(run);
  EXPECT_TRUE(iterations.all[29].hole);
  EXPECT_FALSE(iterations.all[29].steady);
}

TEST(Iterations, WholeReachesToThePauseAfterTheLastEpoch) {
  const record::Run run = simulate({.workers = 0, .epochs = 2, .batches = 20, .validation_ms = 500});
  EXPECT_EQ(cut(run).whole_end_ns, find_trainers(run).at(0).validations.back().end_ns);
}

}  // namespace
}  // namespace fullbore::diagnose
