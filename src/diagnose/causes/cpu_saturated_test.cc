#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/situation.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

Simulation two_on_two() {
  return {.workers = 2, .body_ms = 20, .sample_ms = 3, .cores = 2};
}

TEST(CpuSaturated, NamesTheLineToMakeCheaper) {
  const Diagnosis diagnosis = diagnose(simulate(two_on_two()));
  EXPECT_EQ(diagnosis.verdict.cause, "cpu_saturated");
  EXPECT_EQ(diagnosis.verdict.stage, "decode");
  ASSERT_TRUE(diagnosis.causes.front().fix.where);
  EXPECT_EQ(diagnosis.causes.front().fix.where->file, "/home/ada/data.py");
  EXPECT_TRUE(diagnosis.causes.front().fix.settings.empty());
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("more workers")));
}

// Busy workers finish while the loop works, and what it meets is the end of a batch.
TEST(CpuSaturated, IsBlamedOnTheStageThatCostsMostNotOnTheOneThatTheLoopMeets) {
  Situation situation;
  situation.wait_parts.resize(2);
  situation.wait_parts[0].what = "collate";
  situation.wait_parts[1].what = "decode";
  situation.makers.totals.fetch_ns = 100'000'000;
  situation.makers.totals.collate_ns = 30'000'000;
  EXPECT_EQ(situation.costliest_stage(), "collate");
  situation.profile.dataset.window_ns = 1;
  situation.profile.dataset.stages = {{wire::Stage::kDecode, 0.6}, {wire::Stage::kAugment, 0.4}};
  EXPECT_EQ(situation.stage(), "collate");
  EXPECT_EQ(situation.costliest_stage(), "decode");
  situation.makers.totals.collate_ns = 70'000'000;
  EXPECT_EQ(situation.costliest_stage(), "collate");
}

// Seen in a recorded run: two busy workers whose batches lay ready in turns, 4 ms before the one that was awaited.
TEST(CpuSaturated, IsNamedWhenBusyWorkersFinishOutOfTurn) {
  Simulation simulation = two_on_two();
  simulation.body_ms = 5;
  record::Run run = simulate(simulation);
  for (auto& batch : run.ranks[0].batches) {
    if (batch.record.worker == 1)
      for (auto* time :
           {&batch.record.begin_ns, &batch.record.fetched_ns, &batch.record.collated_ns, &batch.record.put_ns})
        *time -= testing::ms(60);
  }
  EXPECT_EQ(diagnose(run).verdict.cause, "cpu_saturated");
}

TEST(CpuSaturated, OffersTheNextRunWithTheFixThatThisOneHad) {
  record::Run run = simulate(two_on_two());
  EXPECT_THAT(diagnose(run).causes.front().fix.next_command, ::testing::StartsWith("fullbore run -- "));
  run.info.fix = "fullbore-runs/before";
  EXPECT_THAT(diagnose(run).causes.front().fix.next_command,
              ::testing::StartsWith("fullbore run --fix=fullbore-runs/before -- "));
  run.info.fix = "plain";
  EXPECT_THAT(diagnose(run).causes.front().fix.next_command, ::testing::StartsWith("fullbore run --fix -- "));
}

TEST(CpuSaturated, NamesOtherProgramsFirstWhereTheyTakeHalfOfTheCores) {
  Simulation simulation = two_on_two();
  simulation.cores = 6;
  simulation.neighbour_cores = 4;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  ASSERT_EQ(diagnosis.verdict.cause, "cpu_saturated");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("while other programs take 4.0 of the 6 cores"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("end the other programs"));
  EXPECT_FALSE(diagnosis.causes.front().gain.predicted);
}

TEST(CpuSaturated, IsNotNamedWhileACoreIsFree) {
  Simulation simulation = two_on_two();
  simulation.cores = 4;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(CpuSaturated, IsNotNamedForABusyMachineWhoseLoopDoesNotWait) {
  Simulation simulation = two_on_two();
  simulation.body_ms = 150;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
