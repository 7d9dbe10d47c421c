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

Simulation at_the_limit() {
  return testing::reading_from_a_device(4, 3.5);
}

TEST(StorageBandwidth, IsNamedWhenTheDeviceGivesNoMore) {
  const Diagnosis diagnosis = diagnose(simulate(at_the_limit()));
  EXPECT_EQ(diagnosis.verdict.cause, "storage_bandwidth");
  EXPECT_EQ(diagnosis.verdict.stage, "read");
  EXPECT_THAT(diagnosis.causes.front().why_not, ElementsAre(HasSubstr("more workers")));
}

// numpy opens its files by itself: no data path, hence no device, but the group's limit and what the job reads are
// known.
TEST(StorageBandwidth, IsNamedAtTheLimitOfAGroupWhereNoPathWasSeen) {
  Simulation simulation = at_the_limit();
  simulation.device_busy = 0;
  testing::RunBuilder builder;
  testing::simulate_into(builder, simulation);
  builder.gauge("cgroup.io_read_limit_bytes_per_s", 40e6, "vda");
  builder.counter("tree.read_bytes", 39e6, *builder.run.info.end_ns);
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_EQ(diagnosis.verdict.cause, "storage_bandwidth");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("vda, which gives no more than 39 MB/s"));
}

TEST(StorageBandwidth, IsNotNamedWhenBytesComeFromTheCache) {
  Simulation simulation = at_the_limit();
  simulation.read_bytes_share = 0.05;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(StorageBandwidth, IsNotNamedWhenOneReaderKeepsTheDeviceBusy) {
  Simulation simulation = at_the_limit();
  simulation.workers = 1;
  simulation.device_queue = 0.9;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "too_few_workers");
}

TEST(StorageBandwidth, SilencesNoWorkersAtTheLimit) {
  Simulation simulation = at_the_limit();
  simulation.workers = 0;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "storage_bandwidth");
}

}  // namespace
}  // namespace fullbore::diagnose
