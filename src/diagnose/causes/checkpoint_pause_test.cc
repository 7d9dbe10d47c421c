#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;
using testing::Simulation;

Simulation saving() {
  return {.workers = 2, .body_ms = 20, .sample_ms = 0.4, .checkpoint_every = 20, .checkpoint_ms = 300};
}

TEST(CheckpointPause, IsNamedWithTheLineThatSaves) {
  const Diagnosis diagnosis = diagnose(simulate(saving()));
  EXPECT_EQ(diagnosis.verdict.cause, "checkpoint_pause");
  ASSERT_TRUE(diagnosis.causes.front().where);
  EXPECT_EQ(diagnosis.causes.front().where->line, 60);
  EXPECT_NEAR(diagnosis.causes.front().share, 300.0 / 700, 0.05);
  EXPECT_LT(diagnosis.account.parts.at("checkpoint").share, 0.01);
}

TEST(CheckpointPause, IsNotNamedForOneSaveAtTheEnd) {
  Simulation simulation = saving();
  simulation.checkpoint_every = 120;
  simulation.checkpoint_ms = 1000;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

TEST(CheckpointPause, IsNotNamedForQuickSaves) {
  Simulation simulation = saving();
  simulation.checkpoint_ms = 10;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
