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
