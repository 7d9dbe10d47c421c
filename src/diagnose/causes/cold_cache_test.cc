#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::ms;
using testing::RunBuilder;
using testing::simulate_into;
using testing::Simulation;

// Waits of the passes after the first are cut to `later_ms`, their bytes to `later_share`; all that follows moves up.
testing::Simulation quick_reads() {
  testing::Simulation simulation = testing::reading_from_a_device(2, 3);
  simulation.sample_ms = 2;
  return simulation;
}

Diagnosis two_passes(double later_ms, double later_share) {
  RunBuilder builder;
  testing::Simulation simulation = quick_reads();
  simulation.epochs = 2;
  simulation.batches = 80;
  simulate_into(builder, simulation);
  auto& rank = builder.rank();
  std::int64_t cut = 0;
  std::size_t step = 0;
  for (auto& next : rank.nexts) {
    next.record.begin_ns -= cut;
    next.record.end_ns -= cut;
    const bool later = next.record.iterator > 1;
    const std::int64_t wait = next.record.end_ns - next.record.begin_ns;
    if (later && wait > ms(later_ms)) {
      cut += wait - ms(later_ms);
      next.record.end_ns = next.record.begin_ns + ms(later_ms);
    }
    if ((next.record.flags & wire::kStop) != 0) continue;
    rank.steps[step].record.begin_ns -= cut;
    rank.steps[step++].record.end_ns -= cut;
  }
  const std::int64_t second_ns = rank.iterators.back().record.begin_ns;
  for (auto& batch : rank.batches) {
    if (batch.record.begin_ns < second_ns) continue;
    batch.record.read_bytes = static_cast<std::int64_t>(static_cast<double>(batch.record.read_bytes) * later_share);
    batch.record.begin_ns = batch.record.fetched_ns = batch.record.collated_ns = batch.record.put_ns = second_ns;
  }
  return diagnose(builder.take());
}

TEST(ColdCache, IsTheWaitOfTheFirstPassAlone) {
  const Diagnosis diagnosis = two_passes(0.2, 0);
  EXPECT_EQ(diagnosis.verdict.cause, "cold_cache");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("later passes find them in memory"));
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

TEST(ColdCache, IsNotNamedWhenLaterPassesReadAsMuch) {
  for (const Cause& cause : two_passes(30, 1).causes) EXPECT_NE(cause.cause, "cold_cache");
}

// The data are in memory and the loop waits on: it was not the device that it waited for.
TEST(ColdCache, IsNotNamedWhenTheWaitStays) {
  for (const Cause& cause : two_passes(1000, 0).causes) EXPECT_NE(cause.cause, "cold_cache");
}

TEST(ColdCache, IsNotNamedAfterOnePass) {
  const Diagnosis diagnosis = diagnose(testing::simulate(quick_reads()));
  EXPECT_EQ(diagnosis.verdict.cause, "storage_bandwidth");
}

}  // namespace
}  // namespace fullbore::diagnose
