#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;
using testing::Simulation;

// One pass of 150 steps of 100 ms; `start_ms` until the workers begin.
Simulation starting(double start_ms) {
  return {.workers = 2, .batches = 150, .body_ms = 100, .sample_ms = 0.4, .start_ms = start_ms};
}

bool named(const Diagnosis& diagnosis) {
  for (const Cause& cause : diagnosis.causes) {
    if (cause.cause == "worker_startup") return true;
  }
  return false;
}

TEST(WorkerStartup, IsNamedForSecondsBeforeTheFirstBatch) {
  const Diagnosis diagnosis = diagnose(simulate(starting(6000)));
  EXPECT_EQ(diagnosis.verdict.cause, "worker_startup");
  EXPECT_NEAR(diagnosis.causes[0].share, 6.0 / 21, 0.02);
}

TEST(WorkerStartup, IsNotNamedForTwoSeconds) {
  EXPECT_FALSE(named(diagnose(simulate(starting(2000)))));
}

TEST(WorkerStartup, IsNotNamedInALongRun) {
  Simulation simulation = starting(6000);
  simulation.batches = 3000;
  EXPECT_FALSE(named(diagnose(simulate(simulation))));
}

TEST(WorkerStartup, LeavesStartsOfEveryEpochToWorkerRestart) {
  Simulation simulation = starting(6000);
  simulation.epochs = 4;
  simulation.batches = 40;
  simulation.persistent = false;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "worker_restart");
  EXPECT_FALSE(named(diagnosis));
}

}  // namespace
}  // namespace fullbore::diagnose
