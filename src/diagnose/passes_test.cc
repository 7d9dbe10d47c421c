#include "diagnose/passes.h"

#include <gtest/gtest.h>

#include "diagnose/situation.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate_into;
using testing::Simulation;

Simulation two_epochs() {
  return {.workers = 2, .epochs = 2, .batches = 40, .body_ms = 10, .sample_ms = 2, .read_bytes_share = 1};
}

std::vector<Pass> passes_of(const record::Run& run) {
  return assess(run, find_trainers(run).front()).passes;
}

TEST(Passes, AreOnePerIterator) {
  const auto passes = passes_of(testing::simulate(two_epochs()));
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].batches, 40u);
  EXPECT_EQ(passes[1].batches, 40u);
  EXPECT_DOUBLE_EQ(passes[0].bytes_per_batch(), 32 * 50'000);
}

TEST(Passes, KeepWhatEachReadAndWaitedFor) {
  testing::RunBuilder builder;
  simulate_into(builder, two_epochs());
  auto& batches = builder.rank().batches;
  for (std::size_t i = batches.size() / 2; i < batches.size(); ++i) batches[i].record.read_bytes = 0;
  const auto passes = passes_of(builder.take());
  EXPECT_GT(passes[0].read_bytes, 0);
  EXPECT_EQ(passes[1].read_bytes, 0);
  EXPECT_EQ(later_passes(passes).batches, 40u);
  EXPECT_GT(passes[1].wait_per_iteration_ns(), 0);
}

// A batch made in less than a millisecond is not asked for its bytes: it has read nothing that matters.
TEST(Passes, CountBatchesOfUnknownBytesAsReadingNone) {
  testing::RunBuilder builder;
  simulate_into(builder, two_epochs());
  for (auto& batch : builder.rank().batches) batch.record.read_bytes = wire::kUnknown;
  EXPECT_EQ(passes_of(builder.take()).front().bytes_per_batch(), 0);
}

}  // namespace
}  // namespace fullbore::diagnose
