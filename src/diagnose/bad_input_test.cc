// Runs that are damaged, short, huge or odd: each gives a verdict with its confidence, or says what is missing, and
// never a crash, a number that is none, or a zero that was not measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;

void expect_sound(const Diagnosis& diagnosis) {
  EXPECT_FALSE(diagnosis.verdict.summary.empty());
  EXPECT_EQ(diagnosis.verdict.confidence == Confidence::kHigh, diagnosis.verdict.confidence_why.empty());
  double unnamed = 0, all = 0;
  for (const auto& [id, part] : diagnosis.account.parts) {
    EXPECT_TRUE(std::isfinite(part.ms) && part.ms >= 0) << id << " " << part.ms;
    all += part.share;
    if (id == "other" || id == "unknown") unnamed += part.share;
  }
  if (!diagnosis.account.parts.empty() && diagnosis.account.step_ms > 0) {
    EXPECT_NEAR(all, 1, 1e-6);
  }
  EXPECT_LE(unnamed, 0.1) << diagnosis.verdict.summary;
  for (const Cause& cause : diagnosis.causes) {
    EXPECT_TRUE(std::isfinite(cause.share) && cause.share >= 0 && cause.share <= 1) << cause.cause;
    for (const auto& gain : {cause.gain.max, cause.gain.predicted, cause.gain.low, cause.gain.high})
      EXPECT_TRUE(!gain || std::isfinite(*gain)) << cause.cause;
  }
}

TEST(BadInput, OneStepIsNotEnoughAndSaysSo) {
  const Diagnosis diagnosis = diagnose(simulate({.batches = 1}));
  expect_sound(diagnosis);
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kLow);
}

TEST(BadInput, WithoutRecordsOfTheWorkersTheWaitIsKnownAndItsCauseIsNot) {
  record::Run run = simulate({.workers = 2, .body_ms = 10, .sample_ms = 3});
  run.ranks[0].batches.clear();
  run.ranks[0].samples.clear();
  const Diagnosis diagnosis = diagnose(run);
  expect_sound(diagnosis);
  EXPECT_GT(diagnosis.account.parts.at("input_wait").share, 0.5);
  EXPECT_NE(diagnosis.verdict.confidence, Confidence::kHigh);
  EXPECT_FALSE(diagnosis.loader.batch_ms);
  EXPECT_THAT(diagnosis.replay.why, HasSubstr("no record of how they were made"));
}

TEST(BadInput, ARankThatIsMissingLeavesTheOtherJudged) {
  testing::RunBuilder builder;
  testing::simulate_into(builder, {.body_ms = 10, .sample_ms = 3, .rank = 1});
  for (auto& process : builder.rank(1).processes) process.record.rank = 1, process.record.world_size = 2;
  const Diagnosis diagnosis = diagnose(builder.take());
  expect_sound(diagnosis);
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
}

TEST(BadInput, AClockThatStepsBackCostsTheRecordsThere) {
  record::Run run = simulate({.workers = 2, .body_ms = 10, .sample_ms = 3});
  auto& nexts = run.ranks[0].nexts;
  for (std::size_t i = nexts.size() / 2; i < nexts.size(); ++i) {
    nexts[i].record.begin_ns -= testing::ms(500);
    nexts[i].record.end_ns -= testing::ms(500);
  }
  expect_sound(diagnose(run));
}

TEST(BadInput, CountersThatFallAreNotTakenForWork) {
  testing::RunBuilder builder;
  testing::simulate_into(builder, {.workers = 1, .body_ms = 10, .sample_ms = 3});
  for (auto& series : builder.run.series) {
    if (series.kind == wire::SeriesKind::kCounter && series.value.size() == 2) series.value = {series.value[1], 0};
  }
  const Diagnosis diagnosis = diagnose(builder.take());
  expect_sound(diagnosis);
  for (const auto& [metric, value] : diagnosis.system) EXPECT_TRUE(!value || *value >= 0) << metric << " " << *value;
}

TEST(BadInput, AHundredAndTwentyEightWorkersAreJudged) {
  const Diagnosis diagnosis =
      diagnose(simulate({.workers = 128, .batches = 400, .body_ms = 5, .sample_ms = 3, .cores = 16}));
  expect_sound(diagnosis);
  EXPECT_NE(diagnosis.verdict.cause, "insufficient_data");
}

TEST(BadInput, WorkersThatDieLeaveAVerdict) {
  record::Run run = simulate({.workers = 4, .body_ms = 10, .sample_ms = 3});
  auto& batches = run.ranks[0].batches;
  std::erase_if(batches, [&](const auto& batch) { return batch.record.worker == 1 && batch.record.batch > 40; });
  expect_sound(diagnose(run));
}

TEST(BadInput, ABatchSizeThatChangesIsNoSlowWorkerAndNoSlowSample) {
  record::Run run = simulate({.workers = 2, .body_ms = 10, .sample_ms = 3});
  auto& rank = run.ranks[0];
  for (auto& batch : rank.batches) batch.record.samples = batch.record.batch % 3 == 0 ? 8 : 32;
  for (auto& next : rank.nexts) next.record.samples = next.record.batch % 3 == 0 ? 8 : 32;
  const Diagnosis diagnosis = diagnose(run);
  expect_sound(diagnosis);
  EXPECT_EQ(diagnosis.verdict.cause, "too_few_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
