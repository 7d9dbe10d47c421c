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

// Eight workers on two cores: each batch waits three times as long for a core as it works.
Simulation eight_on_two() {
  return {.workers = 8, .body_ms = 20, .sample_ms = 3, .cores = 2};
}

TEST(TooManyWorkers, IsNamedWithAsManyWorkersAsCores) {
  const Diagnosis diagnosis = diagnose(simulate(eight_on_two()));
  EXPECT_EQ(diagnosis.verdict.cause, "too_many_workers");
  EXPECT_EQ(diagnosis.causes.front().fix.settings[0].after, "2");
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("no core is free")));
}

TEST(TooManyWorkers, DoesNotPromiseWhatFewerWorkersCannotGive) {
  EXPECT_LT(*diagnose(simulate(eight_on_two())).causes.front().gain.max, 1.2);
}

TEST(TooManyWorkers, IsSeenAtTheStartsOfEpochsToo) {
  Simulation simulation = eight_on_two();
  simulation.epochs = 8;
  simulation.batches = 16;
  simulation.body_ms = 60;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  EXPECT_EQ(diagnosis.verdict.cause, "too_many_workers");
  EXPECT_GT(*diagnosis.causes.front().gain.max, 1.1);
}

TEST(TooManyWorkers, IsNotNamedForAsManyWorkersAsCores) {
  Simulation simulation = eight_on_two();
  simulation.workers = 2;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "cpu_saturated");
}

TEST(TooManyWorkers, IsNotNamedWhenTheyMostlySleep) {
  Simulation simulation = eight_on_two();
  simulation.cpu_share = 0.02;
  simulation.collate_ms = 0.1;
  EXPECT_NE(diagnose(simulate(simulation)).verdict.cause, "too_many_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
