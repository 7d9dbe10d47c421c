#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::simulate_into;
using testing::Simulation;

// The simulated disk answers 1000 requests a second.
Diagnosis with_disk(Simulation simulation, double limit_per_s, double request_ms) {
  testing::RunBuilder builder;
  simulate_into(builder, simulation);
  const std::int64_t end = *builder.run.info.end_ns;
  if (limit_per_s > 0) builder.gauge("cgroup.io_read_limit_iops", limit_per_s, "vda");
  builder.counter("disk.read_s", request_ms, end, "vda");  // 1000 requests a second take so many seconds a second
  return diagnose(builder.take());
}

Simulation small_reads() {
  Simulation simulation = testing::reading_from_a_device(4, 0.4);
  simulation.device_busy = 0.3;
  return simulation;
}

TEST(StorageLatency, IsNamedAtTheLimitOfRequests) {
  const Diagnosis diagnosis = with_disk(small_reads(), 1050, 0.1);
  EXPECT_EQ(diagnosis.verdict.cause, "storage_latency");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("limited to 1050"));
  EXPECT_THAT(diagnosis.causes.front().why_not, Contains(HasSubstr("more workers")));
  EXPECT_TRUE(diagnosis.causes.front().fix.settings.empty());
}

TEST(StorageLatency, IsNamedWhereEachRequestTakesMilliseconds) {
  const Diagnosis diagnosis = with_disk(small_reads(), 0, 5);
  EXPECT_EQ(diagnosis.verdict.cause, "storage_latency");
  ASSERT_EQ(diagnosis.causes.front().fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

// 0.1 ms a request: the disk is quick, and readers are too few.
TEST(StorageLatency, IsNotNamedForAQuickDisk) {
  EXPECT_EQ(with_disk(small_reads(), 0, 0.1).verdict.cause, "too_few_workers");
}

TEST(StorageLatency, IsNotNamedForRequestsOfManyBytes) {
  Simulation simulation = small_reads();
  simulation.batch = 640;  // of the simulated 50 kB a sample, at the same 1000 requests a second
  simulation.sample_ms = 0.2;
  simulation.device_busy = 0.98;
  simulation.device_queue = 3.5;
  EXPECT_EQ(with_disk(simulation, 0, 5).verdict.cause, "storage_bandwidth");
}

TEST(StorageLatency, SilencesNoWorkersAtTheLimitAlone) {
  Simulation simulation = small_reads();
  simulation.workers = 0;
  EXPECT_EQ(with_disk(simulation, 1050, 0.1).verdict.cause, "storage_latency");
  EXPECT_EQ(with_disk(simulation, 0, 5).verdict.cause, "no_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
