#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate_into;
using testing::Simulation;

Simulation reads_from_a_full_disk() {
  return testing::reading_from_a_device(2, 6);
}

Diagnosis beside(const Simulation& simulation, double own_mb_per_s, double others_mb_per_s) {
  testing::RunBuilder builder;
  simulate_into(builder, simulation);
  const std::int64_t end = *builder.run.info.end_ns;
  builder.counter("tree.read_bytes", own_mb_per_s * 1e6, end);
  for (auto& series : builder.run.series) {
    if (series.metric == "disk.read_bytes")
      series.value.back() = (own_mb_per_s + others_mb_per_s) * 1e6 * static_cast<double>(end - 1'000'000'000) / 1e9;
  }
  return diagnose(builder.take());
}

TEST(IoNeighbour, IsNamedWhenOthersTakeMostOfAFullDisk) {
  const Diagnosis diagnosis = beside(reads_from_a_full_disk(), 20, 180);
  EXPECT_EQ(diagnosis.verdict.cause, "io_neighbour");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("20.0 of the 200.0 MB/s"));
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

TEST(IoNeighbour, IsNotNamedWhenTheJobItselfFillsTheDisk) {
  EXPECT_EQ(beside(reads_from_a_full_disk(), 150, 50).verdict.cause, "storage_bandwidth");
}

TEST(IoNeighbour, IsNotNamedWhileTheDiskHasRoom) {
  Simulation simulation = reads_from_a_full_disk();
  simulation.device_busy = 0.5;
  simulation.device_queue = 0.6;
  EXPECT_EQ(beside(simulation, 20, 180).verdict.cause, "too_few_workers");
}

// Host-wide counters alone tell stories of disks that this job does not even read.
TEST(IoNeighbour, IsNotNamedWhenTheDataComeFromTheCache) {
  Simulation simulation = reads_from_a_full_disk();
  simulation.read_bytes_share = 0.02;
  EXPECT_EQ(beside(simulation, 1, 180).verdict.cause, "too_few_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
