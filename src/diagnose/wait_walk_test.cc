#include "diagnose/wait_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::ms;
using testing::simulate;
using testing::Simulation;

WaitWalk walk(const record::Run& run) {
  const auto trainers = find_trainers(run);
  const Iterations iterations = cut_iterations(trainers.at(0));
  return walk_waits(iterations, collect_makers(trainers.at(0), iterations));
}

double share(const WaitWalk& walk, Doing doing) {
  return walk.spent_ns(doing) / walk.wait_ns;
}

double total(const WaitWalk& walk) {
  double ns = 0;
  for (const auto& [doing, spent] : walk.steady) ns += spent.ns;
  return ns;
}

TEST(WaitWalk, EveryInstantIsAttributed) {
  for (const int workers : {0, 1, 3}) {
    const WaitWalk result = walk(simulate({.workers = workers,
                                           .epochs = 3,
                                           .batches = 40,
                                           .body_ms = 20,
                                           .sample_ms = 4,
                                           .collate_ms = 7,
                                           .handoff_ms = 3}));
    EXPECT_GT(result.wait_ns, 0) << workers;
    EXPECT_NEAR(total(result), result.wait_ns, 1) << workers;
    EXPECT_EQ(result.unmatched, 0u) << workers;
  }
}

TEST(WaitWalk, TellsSamplesCollatingAndHandOverApart) {
  const WaitWalk result =
      walk(simulate({.workers = 0, .body_ms = 20, .sample_ms = 2, .collate_ms = 16, .handoff_ms = 8}));
  EXPECT_NEAR(share(result, Doing::kFetch), 64.0 / 88, 1e-6);
  EXPECT_NEAR(share(result, Doing::kCollate), 16.0 / 88, 1e-6);
  EXPECT_NEAR(share(result, Doing::kHandoff), 8.0 / 88, 1e-6);
}

TEST(WaitWalk, SeesAWorkerThatIsStillOnAnEarlierBatch) {
  // One worker, 100 ms a batch, waits of about 80 ms: all of it is work of that worker.
  const WaitWalk result =
      walk(simulate({.workers = 1, .body_ms = 20, .sample_ms = 3, .collate_ms = 4, .handoff_ms = 0}));
  EXPECT_NEAR(share(result, Doing::kFetch) + share(result, Doing::kCollate), 1, 0.01);
}

TEST(WaitWalk, SeesAWorkerThatHasNotBegun) {
  const WaitWalk result =
      walk(simulate({.workers = 2, .epochs = 3, .batches = 40, .persistent = false, .start_ms = 400}));
  EXPECT_NEAR(result.whole.at(Doing::kStart).ns / 1e6, 2 * 400, 1);  // the first epoch's start is warm-up
}

TEST(WaitWalk, TellsTheSamplerFromTheHandOver) {
  for (const int workers : {0, 1}) {
    Simulation simulation{.workers = workers, .body_ms = 50, .sample_ms = 0.01, .collate_ms = 0, .handoff_ms = 0};
    simulation.unpickle_ms = 2;
    simulation.sampler_ms = 6;
    const WaitWalk result = walk(simulate(simulation));
    EXPECT_NEAR(share(result, Doing::kSampler) / share(result, Doing::kHandoff), 3, 0.01) << workers;
    EXPECT_NEAR(total(result), result.wait_ns, 1) << workers;
  }
}

TEST(WaitWalk, SplitsByCpuAndRunQueue) {
  const WaitWalk result =
      walk(simulate({.workers = 0, .body_ms = 20, .sample_ms = 3, .cpu_share = 0.25, .collate_ms = 0}));
  const Spent& fetch = result.steady.at(Doing::kFetch);
  EXPECT_NEAR(fetch.cpu_ns / fetch.timed_ns, 0.25, 1e-6);
  EXPECT_NEAR(fetch.runq_ns, 0, 1);
}

TEST(WaitWalk, NoticesFinishedBatchesBehindAMissingOne) {
  const WaitWalk slow = walk(simulate({.workers = 4, .body_ms = 40, .sample_ms = 2, .worker_factor = {1, 1, 4, 1}}));
  EXPECT_GT(slow.head_of_line_ns, 0.8 * slow.wait_ns);
  const WaitWalk even = walk(simulate({.workers = 4, .body_ms = 10, .sample_ms = 8}));
  EXPECT_LT(even.head_of_line_ns, 0.3 * even.wait_ns);
}

TEST(WaitWalk, ChargesOneSampleForWhatItTakesBeyondATypicalOne) {
  const WaitWalk result =
      walk(simulate({.workers = 0, .body_ms = 40, .sample_ms = 1, .slow_every = 320, .slow_ms = 500}));
  ASSERT_FALSE(result.slow_samples.empty());
  EXPECT_DOUBLE_EQ(result.slow_samples.front().ms, 500);
  EXPECT_EQ(result.slow_samples.front().index % 320, 319);
  EXPECT_NEAR(result.slow_sample_ns / 1e6, 499.0 * static_cast<double>(result.slow_samples.size()), 1);
}

TEST(WaitWalk, ABatchWithoutARecordIsUnknown) {
  record::Run run = simulate({.workers = 0, .body_ms = 20, .sample_ms = 3});
  run.ranks[0].batches.clear();
  const WaitWalk result = walk(run);
  EXPECT_GT(result.unmatched, 100u);
  EXPECT_DOUBLE_EQ(share(result, Doing::kUnknown), 1);
}

TEST(WaitWalk, BatchesThatWereNeverAskedForAreSkipped) {
  record::Run run = simulate({.workers = 2, .epochs = 3, .batches = 40, .body_ms = 20, .sample_ms = 4});
  // Left early: the last five batches of each epoch were made and not consumed.
  std::erase_if(run.ranks[0].nexts, [](const auto& next) { return next.record.batch >= 35; });
  const WaitWalk result = walk(run);
  EXPECT_EQ(result.unmatched, 0u);
}

// One worker that is always busy, whose thread that sends gets the interpreter only when the next batch is nearly made:
// a batch is 44 ms in the making and 30 ms on its way.
record::Run standing_in_line(int slow_every = 0) {
  return simulate({.workers = 1,
                   .batch = 10,
                   .body_ms = 10,
                   .sample_ms = 4,
                   .slow_every = slow_every,
                   .slow_ms = 300,
                   .collate_ms = 4,
                   .handoff_ms = 30});
}

TEST(WaitWalk, AHandOverBeyondItsOwnWorkGoesToTheBatchItStoodBehind) {
  WaitWalk result = walk(standing_in_line());
  const double before = share(result, Doing::kHandoff), waited = result.wait_ns;
  EXPECT_GT(before, 0.5);
  give_back_standing_behind(result, 0.1e6);
  EXPECT_LT(share(result, Doing::kHandoff), 0.1);
  EXPECT_GT(share(result, Doing::kFetch), 0.8);
  EXPECT_NEAR(total(result), waited, 1) << "nothing is lost";
}

TEST(WaitWalk, AHandOverThatWorksIsLeftAlone) {
  WaitWalk result = walk(standing_in_line());
  const double before = share(result, Doing::kHandoff);
  give_back_standing_behind(result, 20e6);
  EXPECT_DOUBLE_EQ(share(result, Doing::kHandoff), before);
}

TEST(WaitWalk, AHandOverWithNothingInTheMakingIsLeftAlone) {
  // Two workers that are idle most of the time: only the way takes long.
  WaitWalk result = walk(simulate({.workers = 2, .prefetch = 1, .body_ms = 5, .sample_ms = 0.01, .handoff_ms = 30}));
  const double before = share(result, Doing::kHandoff);
  EXPECT_GT(before, 0.5);
  give_back_standing_behind(result, 0.1e6);
  EXPECT_NEAR(share(result, Doing::kHandoff), before, 0.1);
}

TEST(WaitWalk, ASlowSampleHoldsUpTheBatchInFrontOfIt) {
  WaitWalk result = walk(standing_in_line(71));
  const double before = result.slow_sample_ns;
  give_back_standing_behind(result, 0.1e6);
  EXPECT_GT(result.slow_behind_ns, 0);
  EXPECT_GT(result.slow_sample_ns, before);
}

}  // namespace
}  // namespace fullbore::diagnose
