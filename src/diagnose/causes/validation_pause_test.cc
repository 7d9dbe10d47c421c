#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// 30 steps of 20 ms, then 400 ms of validation, half of it waiting.
Simulation validating() {
  return {.workers = 2, .epochs = 5, .batches = 30, .body_ms = 20, .sample_ms = 0.4, .validation_ms = 400};
}

TEST(ValidationPause, IsNamedWithItsOwnWait) {
  const Diagnosis diagnosis = diagnose(simulate(validating()));
  EXPECT_EQ(diagnosis.verdict.cause, "validation_pause");
  EXPECT_NEAR(diagnosis.causes.front().share, 0.4, 0.05);
  ASSERT_TRUE(diagnosis.causes.front().where);
  EXPECT_EQ(diagnosis.causes.front().where->line, 48);
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("num_workers"));
}

TEST(ValidationPause, IsKeptOutOfTheTypicalStep) {
  const Diagnosis diagnosis = diagnose(simulate(validating()));
  EXPECT_DOUBLE_EQ(diagnosis.account.parts.at("validation").share, 0);
  EXPECT_GT(diagnosis.whole.parts.at("validation").share, 0.3);
}

TEST(ValidationPause, IsNotNamedBelowTenPercent) {
  Simulation simulation = validating();
  simulation.validation_ms = 40;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
