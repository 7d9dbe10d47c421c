#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// Batches lie ready; taking one costs the training thread 30 ms.
Simulation many_objects() {
  Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.unpickle_ms = 30;
  return simulation;
}

TEST(Handoff, IsNamedWhereFinishedBatchesAreTakenSlowly) {
  const Diagnosis diagnosis = diagnose(simulate(many_objects()));
  EXPECT_EQ(diagnosis.verdict.cause, "handoff");
  EXPECT_EQ(diagnosis.verdict.stage, "handoff");
  EXPECT_NEAR(diagnosis.causes[0].share, 30.0 / 80, 0.01);
  EXPECT_THAT(diagnosis.causes[0].why_not[0], HasSubstr("more workers than 2"));
}

TEST(Handoff, IsNamedWhereABatchIsLongOnItsWay) {
  Simulation simulation{.workers = 1, .prefetch = 1, .body_ms = 50, .sample_ms = 0.1, .handoff_ms = 400};
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "handoff");
}

TEST(Handoff, IsNotNamedForCollating) {
  Simulation simulation{.workers = 1, .body_ms = 20, .sample_ms = 0.1, .collate_ms = 60};
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "too_few_workers");
  EXPECT_EQ(diagnosis.verdict.stage, "collate");
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

TEST(Handoff, IsNotNamedWhereTheTrainingThreadHadNoCore) {
  record::Run run = simulate(many_objects());
  for (auto& next : run.ranks[0].nexts) next.record.runq_ns = testing::ms(29);
  for (const Cause& cause : diagnose(run).causes) EXPECT_NE(cause.cause, "handoff");
}

TEST(Handoff, CountsOnlyWhatTheTrainingThreadComputesWhereNoCoreIsFree) {
  testing::RunBuilder builder;
  Simulation simulation = many_objects();
  simulate_into(builder, simulation);
  for (auto& series : builder.run.series) {
    if (series.metric == "cpu.usable_busy_s")
      series.value.back() = 8 * static_cast<double>(series.time_ns.back()) / 1e9;
  }
  for (auto& next : builder.rank().nexts) next.record.cpu_ns = testing::ms(12);
  const Diagnosis diagnosis = diagnose(builder.take());
  ASSERT_EQ(diagnosis.verdict.cause, "handoff");
  EXPECT_NEAR(diagnosis.causes[0].share, 0.15, 0.01);
}

TEST(Handoff, IsNotNamedWhereWorkersStandInLineForACore) {
  Simulation simulation = many_objects();
  simulation.workers = 8;
  simulation.cores = 2;
  for (const Cause& cause : diagnose(simulate(simulation)).causes) EXPECT_NE(cause.cause, "handoff");
}

TEST(Handoff, IsNotNamedForASlowSampler) {
  Simulation simulation = many_objects();
  simulation.unpickle_ms = 1;
  simulation.sampler_ms = 30;
  for (const Cause& cause : diagnose(simulate(simulation)).causes) EXPECT_NE(cause.cause, "handoff");
}

}  // namespace
}  // namespace fullbore::diagnose
