#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate_into;

struct Memory {
  double used_mb = 990, anon_mb = 900;  // of a limit of 1000
  double pressure = 0.3;                // negative: not counted by this kernel
  double swap_in_mb_per_s = 0;
};

Diagnosis with(const Memory& memory) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .body_ms = 20, .sample_ms = 4, .cpu_share = 0.3});
  const std::int64_t end = *builder.run.info.end_ns;
  builder.gauge("memory.total_bytes", 16e9);
  builder.gauge("memory.available_bytes", 12e9);
  builder.gauge("cgroup.memory_limit_bytes", 1000e6);
  builder.gauge("cgroup.memory_bytes", memory.used_mb * 1e6);
  builder.gauge("cgroup.memory_anon_bytes", memory.anon_mb * 1e6);
  if (memory.pressure >= 0) builder.counter("pressure.some_s", memory.pressure, end, "memory");
  builder.counter("memory.swap_in_bytes", memory.swap_in_mb_per_s * 1e6, end);
  return diagnose(builder.take());
}

TEST(MemoryPressure, IsNamedAtAFullLimitWithTimeLost) {
  const Diagnosis diagnosis = with({});
  EXPECT_EQ(diagnosis.verdict.cause, "memory_pressure");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("858 MiB of its own in a limit of 954 MiB"));
  ASSERT_EQ(diagnosis.causes.front().fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes.front().fix.settings.front().after, "1");
}

TEST(MemoryPressure, SilencesAdviceToAddWorkers) {
  for (const Cause& cause : with({}).causes) EXPECT_NE(cause.cause, "too_few_workers");
}

// The page cache fills any limit sooner or later.
TEST(MemoryPressure, IsNotNamedWhenTheCacheFillsTheLimit) {
  EXPECT_EQ(with({.anon_mb = 300}).verdict.cause, "too_few_workers");
}

TEST(MemoryPressure, IsNotNamedWithoutTimeLost) {
  EXPECT_EQ(with({.pressure = 0.01, .swap_in_mb_per_s = 50}).verdict.cause, "too_few_workers");
}

TEST(MemoryPressure, IsSeenBySwappingWherePressureIsNotCounted) {
  EXPECT_EQ(with({.pressure = -1, .swap_in_mb_per_s = 50}).verdict.cause, "memory_pressure");
  EXPECT_EQ(with({.pressure = -1, .swap_in_mb_per_s = 0.1}).verdict.cause, "too_few_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
