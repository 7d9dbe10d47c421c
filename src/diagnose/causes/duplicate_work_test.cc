#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

using Content = std::function<std::uint32_t(std::int64_t batch)>;

const Simulation kFast = {.workers = 2, .body_ms = 20, .sample_ms = 0.1};

// The hook looks at the first batches of a pass.
void look_at(record::RankRecords& rank, const Content& content) {
  for (auto& batch : rank.batches) {
    if (batch.record.batch < 64) batch.record.content = content(batch.record.batch);
  }
}

record::Run streamed(const Content& content, Simulation simulation = kFast) {
  record::Run run = simulate(simulation);
  for (auto& loader : run.ranks[0].loaders) loader.record.flags |= wire::kIterableDataset;
  look_at(run.ranks[0], content);
  return run;
}

bool named(const record::Run& run) {
  const Diagnosis diagnosis = diagnose(run);
  return std::ranges::any_of(diagnosis.causes, [](const Cause& cause) { return cause.cause == "duplicate_work"; });
}

std::uint32_t all_of_it(std::int64_t batch) {
  return 1000 + static_cast<std::uint32_t>(batch / 2);
}

std::uint32_t its_share(std::int64_t batch) {
  return 1000 + static_cast<std::uint32_t>(batch);
}

TEST(DuplicateWork, IsNamedWhereWorkersGiveTheSameBatches) {
  const Diagnosis diagnosis = diagnose(streamed(all_of_it));
  ASSERT_EQ(diagnosis.verdict.cause, "duplicate_work");
  EXPECT_DOUBLE_EQ(diagnosis.causes.front().share, 0.5);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("Each of the 2 workers"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("get_worker_info"));
  EXPECT_FALSE(diagnosis.causes.front().gain.max.has_value());
}

TEST(DuplicateWork, IsNamedForTheFirstPassWhateverTheLaterOnesOrder) {
  Simulation two_passes = kFast;
  two_passes.epochs = 2;
  record::Run run = streamed(all_of_it, two_passes);
  const auto middle = run.ranks[0].batches.size() / 2;
  std::ranges::sort(run.ranks[0].batches, {}, [](const auto& batch) { return batch.record.begin_ns; });
  for (std::size_t i = middle; i < run.ranks[0].batches.size(); ++i) {
    if (run.ranks[0].batches[i].record.content != 0) run.ranks[0].batches[i].record.content = 7;
  }
  EXPECT_TRUE(named(run));
}

TEST(DuplicateWork, IsNotNamedWhereEachWorkerHasItsShare) {
  EXPECT_FALSE(named(streamed(its_share)));
}

TEST(DuplicateWork, IsNotNamedForDataThatIsAllTheSame) {
  EXPECT_FALSE(named(streamed([](std::int64_t) { return 7u; })));
  EXPECT_FALSE(named(streamed([](std::int64_t batch) { return 7 + static_cast<std::uint32_t>(batch / 2 % 4); })));
}

TEST(DuplicateWork, IsNotNamedWhereNothingWasLookedAt) {
  EXPECT_FALSE(named(streamed([](std::int64_t) { return 0u; })));
}

TEST(DuplicateWork, IsNotNamedWhereOneOfThreeWorkersHasOtherData) {
  Simulation three = kFast;
  three.workers = 3;
  EXPECT_TRUE(named(streamed([](std::int64_t batch) { return 1000 + static_cast<std::uint32_t>(batch / 3); }, three)));
  EXPECT_FALSE(named(streamed(
      [](std::int64_t batch) { return static_cast<std::uint32_t>(1000 + batch / 3 + (batch % 3 == 2 ? 500 : 0)); },
      three)));
}

record::Run two_ranks(const Content& first, const Content& second, std::uint32_t replicas = 2) {
  testing::RunBuilder builder;
  Simulation simulation = kFast;
  for (const int rank : {0, 1}) {
    simulation.rank = rank;
    testing::simulate_into(builder, simulation);
    for (auto& loader : builder.rank(rank).loaders) loader.record.replicas = replicas;
    for (auto& process : builder.rank(rank).processes) process.record.world_size = 2;
    look_at(builder.rank(rank), rank == 0 ? first : second);
  }
  return builder.take();
}

TEST(DuplicateWork, IsNamedWhereRanksTrainOnTheSameBatches) {
  const Diagnosis diagnosis = diagnose(two_ranks(its_share, its_share));
  ASSERT_EQ(diagnosis.verdict.cause, "duplicate_work");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("All 2 ranks"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("DistributedSampler"));
}

TEST(DuplicateWork, IsNotNamedForRanksWithTheirOwnShares) {
  EXPECT_FALSE(named(two_ranks(its_share, [](std::int64_t batch) { return 5000 + its_share(batch); })));
}

TEST(DuplicateWork, IsNotNamedForRanksThatAreNotAveragedOver) {
  EXPECT_FALSE(named(two_ranks(its_share, its_share, 0)));
}

}  // namespace
}  // namespace fullbore::diagnose
