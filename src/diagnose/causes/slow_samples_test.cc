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

// Every 200th sample takes 800 ms instead of 1 ms.
Simulation heavy_tail() {
  return {.workers = 4, .body_ms = 40, .sample_ms = 1, .slow_every = 201, .slow_ms = 800};
}

TEST(SlowSamples, AreNamedByIndexAndTime) {
  const Diagnosis diagnosis = diagnose(simulate(heavy_tail()));
  EXPECT_EQ(diagnosis.verdict.cause, "slow_samples");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("up to 800 ms where a typical one takes 1 ms, dataset index "));
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("more workers")));
}

TEST(SlowSamples, AreNotNamedWhenAllTakeLong) {
  Simulation simulation = heavy_tail();
  simulation.slow_every = 0;
  simulation.sample_ms = 8;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(SlowSamples, AreNotNamedWhenPrefetchingHidesThem) {
  Simulation simulation = heavy_tail();
  simulation.slow_ms = 60;
  simulation.body_ms = 80;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

TEST(SlowSamples, ComeSecondWithoutWorkers) {
  Simulation simulation = heavy_tail();
  simulation.workers = 0;
  simulation.sample_ms = 3;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
