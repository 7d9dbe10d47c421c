#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate_into;
using testing::Simulation;

// Batches of 32 samples of 1 kB each, read through a mapping.
Diagnosis mapped(double device_kb_per_sample, double asked_kb_per_sample) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2,
                          .body_ms = 20,
                          .sample_ms = 4,
                          .cpu_share = 0.1,
                          .stages = {{wire::Stage::kUserCode, 0.9}},
                          .read_bytes_share = 1});
  for (auto& next : builder.rank().nexts) next.record.batch_bytes = 32'000;
  for (auto& batch : builder.rank().batches) {
    batch.record.read_bytes = static_cast<std::int64_t>(32'000 * device_kb_per_sample);
    batch.record.read_chars = static_cast<std::int64_t>(32'000 * asked_kb_per_sample);
    batch.record.major_faults = 32;
  }
  return diagnose(builder.take());
}

TEST(ReadAmplification, IsNamedWhenTheDeviceReadsManyTimesTheSample) {
  const Diagnosis diagnosis = mapped(128, 0);
  EXPECT_EQ(diagnosis.verdict.cause, "read_amplification");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("128 times as much"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("MADV_RANDOM"));
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

// A photograph of 2 MB becomes a tensor of 150 kB: what was asked for was read, nothing is thrown away by the device.
TEST(ReadAmplification, IsNotNamedWhenTheProgramAskedForAllOfIt) {
  EXPECT_EQ(mapped(128, 128).verdict.cause, "too_few_workers");
}

TEST(ReadAmplification, IsNotNamedForTheRestOfAPage) {
  EXPECT_EQ(mapped(3, 0).verdict.cause, "too_few_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
