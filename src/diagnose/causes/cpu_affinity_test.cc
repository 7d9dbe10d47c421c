#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

// Two workers that want all of `allowed` cores of a machine of eight, `busy` of which somebody uses.
record::Run masked(double allowed, double busy, double cpu_share = 1) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .body_ms = 10, .sample_ms = 2, .cpu_share = cpu_share, .cores = allowed});
  for (auto& series : builder.run.series) {
    if (series.metric == "cpu.online_cores") series.value = {8};
  }
  builder.counter("cpu.busy_s", busy, *builder.run.info.end_ns, "total");
  return builder.take();
}

TEST(CpuAffinity, IsNamedWhereTheMachineHasIdleCores) {
  const Diagnosis diagnosis = diagnose(masked(1, 1.2));
  EXPECT_EQ(diagnosis.verdict.cause, "cpu_affinity");
  for (const Cause& cause : diagnosis.causes) EXPECT_NE(cause.cause, "cpu_saturated");
}

TEST(CpuAffinity, IsNotNamedWhereTheWholeMachineIsBusy) {
  EXPECT_EQ(diagnose(masked(1, 7.9)).verdict.cause, "cpu_saturated");
}

TEST(CpuAffinity, IsNotNamedWhileACoreOfTheMaskIsFree) {
  EXPECT_EQ(diagnose(masked(6, 2)).verdict.cause, "too_few_workers");
}

TEST(CpuAffinity, IsNotNamedWithoutAMask) {
  EXPECT_NE(diagnose(masked(8, 2)).verdict.cause, "cpu_affinity");
}

}  // namespace
}  // namespace fullbore::diagnose
