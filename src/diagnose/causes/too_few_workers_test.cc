#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;
using testing::Simulation;

// One worker makes a batch in 97 ms, the model wants one every 50 ms.
Simulation one_worker() {
  return {.workers = 1, .body_ms = 50, .sample_ms = 3};
}

TEST(TooFewWorkers, IsNamedWhileCoresAreFree) {
  const Diagnosis diagnosis = diagnose(simulate(one_worker()));
  EXPECT_EQ(diagnosis.verdict.cause, "too_few_workers");
  EXPECT_EQ(diagnosis.verdict.stage, "decode");
  EXPECT_GT(*diagnosis.loader.worker_busy, 0.9);
  const auto& settings = diagnosis.causes.front().fix.settings;
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].before, "1");
  EXPECT_EQ(settings[0].after, "3");
}

TEST(TooFewWorkers, IsNotNamedWhenAllCoresAreTaken) {
  Simulation simulation = one_worker();
  simulation.workers = 2;
  simulation.sample_ms = 6;
  simulation.cores = 2;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "cpu_saturated");
}

TEST(TooFewWorkers, IsNamedOnTakenCoresWhenSamplesWaitForIo) {
  Simulation simulation = one_worker();
  simulation.cores = 1;
  simulation.cpu_share = 0.2;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(TooFewWorkers, IsNotNamedWhenWorkersKeepUp) {
  Simulation simulation = one_worker();
  simulation.workers = 4;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
