#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// 32 samples of 3 ms against 50 ms of model: 97 of 147 ms are spent in next.
Simulation without_workers() {
  return {.workers = 0, .body_ms = 50, .sample_ms = 3};
}

const Cause* find(const Diagnosis& diagnosis, const char* id) {
  for (const Cause& cause : diagnosis.causes) {
    if (cause.cause == id) return &cause;
  }
  return nullptr;
}

TEST(NoWorkers, IsNamedWithStageLineAndBound) {
  const Diagnosis diagnosis = diagnose(simulate(without_workers()));
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
  EXPECT_EQ(diagnosis.verdict.stage, "decode");
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kCritical);
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kHigh);
  const Cause& cause = diagnosis.causes.front();
  ASSERT_TRUE(cause.where);
  EXPECT_EQ(cause.where->line, 41);
  EXPECT_NEAR(cause.share, 97.2 / 147.2, 0.01);
  EXPECT_NEAR(*cause.gain.max, 147.2 / 50, 0.05);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("waits 66 % of each step for batches, above all for decoding, in "
                                                   "the main process (num_workers=0, train.py:41)"));
}

TEST(NoWorkers, RecommendsEnoughWorkersToHideTheWait) {
  const Diagnosis diagnosis = diagnose(simulate(without_workers()));
  const auto& settings = diagnosis.causes.front().fix.settings;
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0].after, "3");  // 97 ms of making over 50 ms of model, with a margin
  EXPECT_EQ(settings[1].name, "persistent_workers");
  EXPECT_THAT(diagnosis.causes.front().fix.diff, HasSubstr("+loader = DataLoader(data, batch_size=32, num_workers=3"));
}

TEST(NoWorkers, StaysWithinTwoCoresWhenTheModelNeedsNone) {
  Simulation simulation = without_workers();
  simulation.cores = 2;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
  EXPECT_EQ(diagnosis.causes.front().fix.settings[0].after, "2");
  // Two cores cannot make more than two batches in the time of one.
  EXPECT_LT(*diagnosis.causes.front().gain.max, 3.1);
}

TEST(NoWorkers, IsNotNamedWhenTheOnlyCoreIsTaken) {
  Simulation simulation = without_workers();
  simulation.cores = 1;
  simulation.body_cpu_ms = 50;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(find(diagnosis, "no_workers"), nullptr);
  EXPECT_EQ(diagnosis.verdict.cause, "cpu_saturated");
}

TEST(NoWorkers, HelpsOnOneCoreWhenSamplesWaitForInput) {
  Simulation simulation = without_workers();
  simulation.cores = 1;
  simulation.cpu_share = 0.1;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
}

TEST(NoWorkers, IsNotNamedWhenTheLoopHardlyWaits) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 0, .body_ms = 500, .sample_ms = 0.3}));
  EXPECT_EQ(diagnosis.verdict.cause, "compute_bound");
}

TEST(NoWorkers, IsNamedWithoutBatchRecordsToo) {
  record::Run run = simulate(without_workers());
  run.ranks[0].batches.clear();
  run.ranks[0].profile.clear();
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
  EXPECT_EQ(diagnosis.verdict.stage, "");
}

TEST(NoWorkers, WarnsOfIterableDatasetsThatRepeatThemselves) {
  record::Run run = simulate(without_workers());
  run.ranks[0].loaders[0].record.flags |= wire::kIterableDataset;
  EXPECT_THAT(diagnose(run).causes.front().fix.risk, HasSubstr("once per worker"));
}

}  // namespace
}  // namespace fullbore::diagnose
