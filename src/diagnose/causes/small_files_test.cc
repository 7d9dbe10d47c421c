#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

Simulation many_opens() {
  return {.workers = 2,
          .body_ms = 30,
          .sample_ms = 3,
          .cpu_share = 0.1,
          .stages = {{wire::Stage::kOpen, 0.8}, {wire::Stage::kRead, 0.1}}};
}

TEST(SmallFiles, AreNamedWhenOpeningTakesMostOfASample) {
  const Diagnosis diagnosis = diagnose(simulate(many_opens()));
  EXPECT_EQ(diagnosis.verdict.cause, "small_files");
  EXPECT_EQ(diagnosis.verdict.stage, "open");
  ASSERT_TRUE(diagnosis.causes.front().where);
  EXPECT_EQ(diagnosis.causes.front().where->line, 10 + static_cast<int>(wire::Stage::kOpen));
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("faster disk")));
}

// Uncached, the first read of a file takes what its opening takes otherwise.
TEST(SmallFiles, AreNamedWhenASampleIsManyFilesOfFewBytes) {
  Simulation simulation = many_opens();
  simulation.stages = {{wire::Stage::kOpen, 0.2}, {wire::Stage::kRead, 0.7}};
  record::Run run = simulate(simulation);
  for (auto& batch : run.ranks[0].batches) batch.record.read_chars = 32 * 40 * 12;
  for (auto& entry : run.ranks[0].profile) entry.record.count = 40 * entry.record.windows;
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_EQ(diagnosis.verdict.cause, "small_files");
  EXPECT_THAT(diagnosis.verdict.summary,
              HasSubstr("opening and reading 40 small files takes 90 % of making a sample (2.7 ms); without it"));
}

TEST(SmallFiles, AreNotNamedWhenReadingTakesMost) {
  Simulation simulation = many_opens();
  simulation.stages = {{wire::Stage::kOpen, 0.1}, {wire::Stage::kRead, 0.8}};
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(SmallFiles, AreNotNamedWhenTheLoopDoesNotWait) {
  Simulation simulation = many_opens();
  simulation.body_ms = 100;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
