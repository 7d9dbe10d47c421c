#include "diagnose/predict_gains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

Cause made(const char* id, double share) {
  Cause cause;
  cause.cause = id;
  cause.share = share;
  return cause;
}

TEST(RankCauses, PutsTheLargestFirst) {
  std::vector<Cause> causes = {made("a", 0.1), made("b", 0.5), made("c", 0.3)};
  rank_causes(causes);
  EXPECT_THAT(causes, ElementsAre(Field(&Cause::cause, "b"), Field(&Cause::cause, "c"), Field(&Cause::cause, "a")));
}

TEST(RankCauses, GivesTiesToTheCheaperChange) {
  std::vector<Cause> causes = {made("cheap", 0.48), made("dear", 0.5)};
  rank_causes(causes);
  EXPECT_EQ(causes.front().cause, "cheap");
}

TEST(RankCauses, GoesByWhatIsPredictedBeforeWhatIsExposed) {
  std::vector<Cause> causes = {made("hidden", 0.5), made("free", 0.4)};
  causes[0].gain.predicted = 1.02;
  causes[1].gain.predicted = 1.6;
  rank_causes(causes);
  EXPECT_EQ(causes.front().cause, "free");
}

TEST(RankCauses, CreditsACauseWithNoMoreThanItCosts) {
  std::vector<Cause> causes = {made("small", 0.1), made("large", 0.3)};
  causes[0].gain.predicted = 2;
  rank_causes(causes);
  EXPECT_EQ(causes.front().cause, "large");
}

TEST(IsAdvice, AsksForThreePerCentAtWorst) {
  EXPECT_TRUE(is_advice({}));  // nothing was predicted: the bound stands
  EXPECT_TRUE(is_advice({.max = 2, .predicted = 1.2, .low = 1.05, .high = 1.3, .with = {}}));
  EXPECT_FALSE(is_advice({.max = 2, .predicted = 1.2, .low = 1.01, .high = 1.4, .with = {}}));
}

class Predicted : public ::testing::Test {
 protected:
  ReplayFacts predict(const testing::Simulation& simulation, std::vector<Cause>& causes) {
    run_ = testing::simulate(simulation);
    trainers_ = find_trainers(run_);
    situation_ = assess(run_, trainers_.at(0));
    return predict_gains(situation_, causes);
  }
  record::Run run_;
  std::vector<Trainer> trainers_;
  Situation situation_;
};

Cause with_workers(const char* id, int workers) {
  Cause cause = made(id, 0.5);
  cause.change.workers = workers;
  cause.change.words = "with more workers";
  return cause;
}

TEST_F(Predicted, GivesAFigureItsIntervalAndTheNextLimit) {
  std::vector<Cause> causes = {with_workers("more", 4)};
  const ReplayFacts facts = predict({.workers = 1, .body_ms = 50, .sample_ms = 3}, causes);
  EXPECT_EQ(facts.why, "");
  EXPECT_EQ(causes[0].gain.kind, "replay");
  EXPECT_EQ(causes[0].gain.with, "with more workers");
  EXPECT_NEAR(*causes[0].gain.predicted, 97.0 / 50, 0.1);
  EXPECT_LE(*causes[0].gain.low, *causes[0].gain.predicted);
  EXPECT_GE(*causes[0].gain.high, *causes[0].gain.predicted);
  ASSERT_TRUE(facts.next);
  EXPECT_EQ(facts.next->limit, "model");
}

// Both cores are busy already.
TEST_F(Predicted, LeavesOutWhatGainsNothing) {
  Cause deeper = made("deeper", 0.5), cheaper = made("cheaper", 0.4);
  deeper.change.prefetch = 8;
  cheaper.change.sample_cpu = 0.5;
  std::vector<Cause> causes = {deeper, cheaper};
  predict({.workers = 2, .body_ms = 5, .sample_ms = 3, .cores = 2}, causes);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].cause, "cheaper");
}

TEST_F(Predicted, NamesTwoChangesThatNeedEachOther) {
  Cause cheaper = made("cheaper", 0.4);
  cheaper.change.sample_cpu = 0.25;
  std::vector<Cause> causes = {with_workers("more", 4), cheaper};
  const ReplayFacts facts = predict({.workers = 1, .body_ms = 5, .sample_ms = 3, .cores = 2}, causes);
  ASSERT_TRUE(facts.pair);
  EXPECT_GT(*facts.pair->gain.predicted, 1.03 * *causes[0].gain.predicted);
  EXPECT_TRUE(facts.pair->gain.low);
}

TEST_F(Predicted, KeepsBoundsWhereTheReplayExplainsNothing) {
  std::vector<Cause> causes = {with_workers("more", 4)};
  const ReplayFacts facts = predict({.workers = 1, .body_ms = 50, .sample_ms = 3, .device = "cuda:0"}, causes);
  EXPECT_NE(facts.why, "");
  EXPECT_EQ(causes[0].gain.kind, "bound");
  EXPECT_FALSE(causes[0].gain.predicted);
}

}  // namespace
}  // namespace fullbore::diagnose
