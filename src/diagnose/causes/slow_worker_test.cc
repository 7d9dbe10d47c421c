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

// Worker 2 of 4 takes four times as long.
Simulation one_slow() {
  return {.workers = 4, .body_ms = 40, .sample_ms = 2, .worker_factor = {1, 1, 4, 1}};
}

TEST(SlowWorker, IsNamedByItsNumber) {
  const Diagnosis diagnosis = diagnose(simulate(one_slow()));
  EXPECT_EQ(diagnosis.verdict.cause, "slow_worker");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("worker 2, which takes 8 ms per sample where the others take 2 ms"));
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("more workers")));
}

TEST(SlowWorker, IsNotNamedWhenAllAreAlike) {
  Simulation simulation = one_slow();
  simulation.worker_factor = {4, 4, 4, 4};
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(SlowWorker, IsNotNamedWhenNobodyWaitsForIt) {
  Simulation simulation = one_slow();
  simulation.body_ms = 100;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

TEST(SlowWorker, IsNamedOfTwo) {
  Simulation simulation = one_slow();
  simulation.workers = 2;
  simulation.worker_factor = {1, 4};
  simulation.body_ms = 60;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "slow_worker");
}

}  // namespace
}  // namespace fullbore::diagnose
