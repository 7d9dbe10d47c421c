#include "diagnose/causes/changes.h"

#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

class Changes : public ::testing::Test {
 protected:
  const Situation& assessed(const testing::Simulation& simulation) {
    run_ = testing::simulate(simulation);
    trainers_ = find_trainers(run_);
    situation_ = assess(run_, trainers_.at(0));
    return situation_;
  }
  record::Run run_;
  std::vector<Trainer> trainers_;
  Situation situation_;
};

TEST_F(Changes, LeaveTheTimeThatSamplesWaitForSomethingElse) {
  // Blocked for 80 % of a sample, of which reading is a half.
  const Situation& situation = assessed(
      {.workers = 2, .sample_ms = 4, .cpu_share = 0.2, .collate_ms = 0, .stages = {{wire::Stage::kRead, 0.4}}});
  EXPECT_NEAR(with_reads_at(0, situation, "").sample_blocked, 0.5, 0.05);
  EXPECT_NEAR(with_reads_at(0.5, situation, "").sample_blocked, 0.75, 0.05);
  EXPECT_EQ(with_reads_at(0, situation, "").sample_cpu, 1);
}

TEST_F(Changes, TakeAwayNoMoreThanAllOfTheWaiting) {
  const Situation& situation =
      assessed({.workers = 2, .sample_ms = 4, .cpu_share = 0.5, .stages = {{wire::Stage::kRead, 0.9}}});
  EXPECT_EQ(with_reads_at(0, situation, "").sample_blocked, 0);
}

TEST_F(Changes, CountPausesThatTypicalStepsDoNotHavePerStepOfTheWholeRun) {
  const Situation& situation = assessed({.workers = 2, .checkpoint_every = 10, .checkpoint_ms = 200});
  const Change change = without(Claim::kCheckpoint, situation, "without checkpoints");
  EXPECT_EQ(change.body_less_ms, 0);
  EXPECT_NEAR(change.pause_less_ms, 20, 2);
  EXPECT_EQ(change.words, "without checkpoints");
}

}  // namespace
}  // namespace fullbore::diagnose
