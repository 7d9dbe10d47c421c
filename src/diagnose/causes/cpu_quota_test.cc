#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// Four workers may use one core of eight.
Simulation four_on_a_quota() {
  return {.workers = 4, .body_ms = 20, .sample_ms = 3, .cores = 8, .quota_cores = 1.0};
}

TEST(CpuQuota, IsNamedWhenTheGroupStopsTheJob) {
  const Diagnosis diagnosis = diagnose(simulate(four_on_a_quota()));
  EXPECT_EQ(diagnosis.verdict.cause, "cpu_quota");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("the quota is 1 core, the machine has 8 cores"));
  EXPECT_FALSE(diagnosis.causes.front().where);
}

TEST(CpuQuota, IsNotNamedForAQuotaThatIsNotReached) {
  Simulation simulation = four_on_a_quota();
  simulation.quota_cores = 6.0;
  simulation.workers = 1;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(CpuQuota, IsNotNamedWithoutAQuota) {
  Simulation simulation = four_on_a_quota();
  simulation.quota_cores.reset();
  simulation.cores = 4;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "cpu_saturated");
}

}  // namespace
}  // namespace fullbore::diagnose
