#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Outcome = Comparison::Outcome;

const Comparison::Row& row(const Comparison& c, const std::string& id) {
  for (const auto& r : c.rows) {
    if (r.id == id) return r;
  }
  static const Comparison::Row none;
  ADD_FAILURE() << "no row " << id;
  return none;
}

Comparison sample(const CompareOptions& options = {}) {
  return compare(testing::no_workers_run(), testing::fixed_run(), options);
}

TEST(Compare, MeasuresTheGainBesideTheBound) {
  const Comparison c = sample();
  EXPECT_EQ(c.outcome, Outcome::kFaster);
  EXPECT_NEAR(*c.factor, 163.2 / 65.0, 1e-9);
  EXPECT_LT(*c.low, *c.factor);
  EXPECT_EQ(c.bound, 2.577);
  EXPECT_THAT(comparison_text(c, {}), HasSubstr("gain   measured 2.51x, bound 2.58x for removing no_workers\n"));
}

TEST(Compare, SaysWhichRunsTheseAre) {
  auto before = testing::no_workers_run(), after = testing::fixed_run();
  EXPECT_THAT(comparison_text(compare(before, after, {}), {.width = 120}),
              HasSubstr("before   " + before.run + "\nafter    " + after.run +
                        " with --fix=20261130T101500-411-k3\ncommand  python train.py\n"));
  after.command = "python other.py";
  after.fix->mode = "plain";
  EXPECT_THAT(comparison_text(compare(before, after, {}), {.width = 120}),
              HasSubstr("before   " + before.run + ": python train.py\nafter    " + after.run +
                        " with --fix=plain: python other.py\n"));
}

// Large factors have wide intervals: 2.1x of steps that vary by half is no gain yet.
TEST(Compare, ClaimsNothingWhereTheIntervalHoldsOne) {
  auto before = testing::no_workers_run(), after = testing::fixed_run();
  before.steps.sem_ms = 0.35 * *before.steps.mean_ms;
  EXPECT_EQ(compare(before, after, {}).outcome, Outcome::kUnchanged);
  before.steps.sem_ms = 0.2 * *before.steps.mean_ms;
  EXPECT_EQ(compare(before, after, {}).outcome, Outcome::kFaster);
  EXPECT_EQ(compare(after, before, {}).outcome, Outcome::kSlower);
}

TEST(Compare, SaysThatTheBoundWasPassed) {
  auto before = testing::no_workers_run();
  before.causes.front().gain.max = 2.5;
  EXPECT_THAT(comparison_text(compare(before, testing::fixed_run(), {}), {.width = 200}),
              HasSubstr("above the bound by less"));
  before.causes.front().gain.max = 1.2;
  EXPECT_THAT(comparison_text(compare(before, testing::fixed_run(), {}), {.width = 200}),
              HasSubstr("something else changed too"));
}

TEST(Compare, CountsFactorsSoThatMoreIsBetter) {
  const Comparison c = sample();
  EXPECT_NEAR(*row(c, "samples_per_s").factor, 984.6 / 392.2, 1e-9);
  EXPECT_NEAR(*row(c, "step_p50_ms").factor, 161.0 / 64.1, 1e-9);
  EXPECT_FALSE(row(c, "input_wait_ms").factor);
}

TEST(Compare, SaysNotMeasuredWithTheReason) {
  const Comparison c = sample();
  EXPECT_FALSE(row(c, "gpu_busy").before);
  EXPECT_THAT(comparison_text(c, {}), HasSubstr("GPU busy                  n/a (no NVIDIA driver on this machine)\n"));
}

TEST(Compare, HasTheDeviceOfTracedRuns) {
  auto before = testing::traced_run();
  before.copies =
      diagnose::Copies{.pageable = {10, 1e9, 200, 5}, .pinned = {}, .h2d_ms_per_batch = 10, .exposed_share = 0.5};
  const Comparison c = compare(before, testing::traced_run(), {});
  EXPECT_NEAR(*row(c, "h2d_ms_per_batch").factor, 4, 1e-9);
  EXPECT_NEAR(*row(c, "pcie_gb_per_s").before, 5, 1e-9);
  EXPECT_NEAR(*row(c, "pcie_gb_per_s").after, 50, 1e-9);
  EXPECT_NEAR(*row(c, "gpu_busy").after, 0.62, 1e-9);
}

TEST(Compare, HasAReasonForGpuFiguresEvenWhereNoRunNamesOne) {
  auto before = testing::no_workers_run();
  before.missing.clear();
  EXPECT_EQ(row(compare(before, before, {}), "gpu_busy").why, "no GPU counters were read");
}

TEST(Compare, CostsIterationsOnlyAtAPrice) {
  EXPECT_THAT(comparison_text(sample(), {}), Not(HasSubstr("cost")));
  const Comparison c = sample({.price_per_hour = 25});
  EXPECT_NEAR(*row(c, "cost_per_1000_iterations").before, 25 * 163.2 / 3600, 1e-9);
}

TEST(Compare, DoesNotSellNoiseAsGain) {
  auto after = testing::no_workers_run();
  after.steps.mean_ms = 162.0;
  const Comparison c = compare(testing::no_workers_run(), after, {});
  EXPECT_EQ(c.outcome, Outcome::kUnchanged);
  EXPECT_THAT(outcome_text(c), StartsWith("Nothing was gained: 1.01x per steady step"));
}

TEST(Compare, CallsASmallChangeNoneWhereTheSpreadIsUnknown) {
  auto after = testing::no_workers_run();
  after.steps.mean_ms = 160.0;
  after.steps.sem_ms = std::nullopt;
  const Comparison c = compare(testing::no_workers_run(), after, {});
  EXPECT_EQ(c.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(c.low);
}

TEST(Compare, SaysWhenItGotSlower) {
  const Comparison c = compare(testing::fixed_run(), testing::no_workers_run(), {});
  EXPECT_EQ(c.outcome, Outcome::kSlower);
  EXPECT_THAT(outcome_text(c), StartsWith("The second run is slower: 0.40x the speed"));
}

TEST(Compare, JudgesACauseOfTheEdgesOnTheWholeRun) {
  auto before = testing::no_workers_run();
  before.verdict.cause = "worker_restart";
  auto after = before;
  before.whole.step_ms = 300;
  const Comparison c = compare(before, after, {});
  EXPECT_EQ(c.basis, "whole");
  EXPECT_NEAR(*c.factor, 300 / 163.2, 1e-9);
}

TEST(Compare, TellsNothingWithoutStepTimes) {
  const Comparison c = compare(testing::no_workers_run(), testing::short_run(), {});
  EXPECT_EQ(c.outcome, Outcome::kUnknown);
  EXPECT_THAT(comparison_text(c, {}), HasSubstr("(the command ended after 4 steps)"));
}

TEST(Compare, PutsPredictedAgainstMeasured) {
  auto before = testing::no_workers_run();
  before.causes[0].gain.predicted = 2.4;
  EXPECT_THAT(comparison_text(compare(before, testing::fixed_run(), {}), {.width = 200}),
              HasSubstr("measured 2.51x, predicted 2.40x, off by 5 %, bound 2.58x"));
}

TEST(Compare, ShowsTheIntervalOfThePrediction) {
  auto before = testing::no_workers_run();
  before.causes[0].gain.predicted = 2.4;
  before.causes[0].gain.low = 2.2;
  before.causes[0].gain.high = 2.55;
  EXPECT_THAT(comparison_text(compare(before, testing::fixed_run(), {}), {.width = 200}),
              HasSubstr("predicted 2.40x (2.20x to 2.55x), off by 5 %"));
}

TEST(Compare, HoldsNoPredictionAgainstARunThatWasFixedByHand) {
  auto before = testing::no_workers_run();
  before.causes[0].gain.predicted = 2.4;
  auto after = testing::fixed_run();
  after.fix.reset();
  const Comparison c = compare(before, after, {});
  EXPECT_FALSE(c.as_recommended);
  EXPECT_THAT(comparison_text(c, {}), HasSubstr("measured 2.51x, predicted 2.40x, bound 2.58x"));
  EXPECT_THAT(comparison_json(c), HasSubstr("\"prediction_error\": null"));
}

TEST(Compare, HoldsNoPredictionOfAnotherChangeAgainstTheSettings) {
  auto before = testing::no_workers_run();
  before.causes[0].gain.predicted = 2.4;
  before.causes[0].change.sample_blocked = 0;  // "copy the data to a local disk; until then more workers"
  EXPECT_FALSE(compare(before, testing::fixed_run(), {}).as_recommended);
}

TEST(Compare, NamesEveryDifferenceInTheWork) {
  auto after = testing::no_workers_run();
  EXPECT_THAT(differences(testing::no_workers_run(), after), IsEmpty());
  after.loader.batch_size = 128;
  after.loader.dataset_length = 3000;
  after.model_hash = "77aa";
  EXPECT_THAT(differences(testing::no_workers_run(), after),
              ElementsAre("batch size 64 and 128", "dataset length 2000 and 3000", StartsWith("model 9f1c and 77aa")));
}

TEST(Compare, TakesWhatIsUnknownForTheSameWork) {
  EXPECT_THAT(differences(testing::no_workers_run(), testing::short_run()), IsEmpty());
}

}  // namespace
}  // namespace fullbore::report
