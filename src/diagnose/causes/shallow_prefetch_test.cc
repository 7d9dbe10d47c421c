#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;
using testing::Simulation;

// Eight quick loop bodies, then one that takes long: two workers keep up on average, four batches ahead do not bridge
// it.
Simulation accumulating() {
  Simulation simulation{.workers = 2, .batches = 240, .body_ms = 4, .sample_ms = 1, .collate_ms = 8};
  simulation.long_every = 8;
  simulation.long_ms = 240;
  return simulation;
}

TEST(ShallowPrefetch, IsNamedWithADepthThatBridgesTheBurst) {
  const Diagnosis diagnosis = diagnose(simulate(accumulating()));
  EXPECT_EQ(diagnosis.verdict.cause, "shallow_prefetch");
  ASSERT_EQ(diagnosis.causes[0].fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].fix.settings[0].name, "prefetch_factor");
  EXPECT_EQ(diagnosis.causes[0].fix.settings[0].after, "4");
}

TEST(ShallowPrefetch, IsNotNamedWhereTheWorkersAreTooFew) {
  Simulation simulation = accumulating();
  simulation.sample_ms = 3;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(ShallowPrefetch, IsNotNamedForSlowSamples) {
  Simulation simulation{.workers = 2, .batches = 240, .body_ms = 40, .sample_ms = 1};
  simulation.slow_every = 400;
  simulation.slow_ms = 600;
  for (const Cause& cause : diagnose(simulate(simulation)).causes) EXPECT_NE(cause.cause, "shallow_prefetch");
}

TEST(ShallowPrefetch, IsNotNamedWhereEnoughIsReady) {
  Simulation simulation = accumulating();
  simulation.prefetch = 8;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
