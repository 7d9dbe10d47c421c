#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;
using testing::Simulation;

Simulation drawing(int workers, double ms) {
  Simulation simulation{.workers = workers, .body_ms = 50, .sample_ms = 0.1, .collate_ms = 0.2};
  simulation.sampler_ms = ms;
  return simulation;
}

TEST(SamplerSlow, IsNamedWithAndWithoutWorkers) {
  for (const int workers : {0, 2}) {
    const Diagnosis diagnosis = diagnose(simulate(drawing(workers, 30)));
    EXPECT_EQ(diagnosis.verdict.cause, "sampler_slow") << workers;
    EXPECT_EQ(diagnosis.verdict.stage, "sampler") << workers;
    EXPECT_NEAR(diagnosis.causes[0].share, 30.0 / 83, 0.03) << workers;
  }
}

TEST(SamplerSlow, CountsTheShuffleOfEveryEpoch) {
  Simulation simulation = drawing(0, 0.01);
  simulation.epochs = 12;
  simulation.batches = 10;
  record::Run run = simulate(simulation);
  // 300 ms more in the first next of each epoch, and all that follows as much later.
  std::int64_t later = 0;
  for (auto& next : run.ranks[0].nexts) {
    next.record.begin_ns += later;
    if ((next.record.flags & wire::kFirst) != 0) later += testing::ms(300), next.record.sampler_ns = testing::ms(300);
    next.record.end_ns += later;
  }
  run.ranks[0].batches.clear();
  run.ranks[0].steps.clear();
  EXPECT_EQ(diagnose(run).verdict.cause, "sampler_slow");
}

TEST(SamplerSlow, IsNotNamedForAQuickOne) {
  EXPECT_EQ(diagnose(simulate(drawing(2, 0.2))).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
