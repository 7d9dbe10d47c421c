#include "record/spawned_workers.h"

#include <gtest/gtest.h>

namespace fullbore::record {
namespace {

constexpr std::uint32_t kTrainer = 10, kOtherTrainer = 11, kWorker = 20;

From<wire::ProcessRecord> worker(std::int64_t base_seed) {
  wire::ProcessRecord process{};
  process.pid = kWorker;
  process.parent_pid = kTrainer;
  process.role = wire::Role::kWorker;
  process.base_seed = base_seed;
  return {process, kWorker, kWorker};
}

From<wire::IteratorRecord> iterator(std::uint32_t pid, std::uint32_t loader, std::int64_t base_seed) {
  wire::IteratorRecord record{};
  record.loader = loader;
  record.base_seed = base_seed;
  return {record, pid, pid};
}

From<wire::BatchRecord> batch(std::uint32_t pid, std::uint32_t loader) {
  wire::BatchRecord record{};
  record.loader = loader;
  return {record, pid, pid};
}

TEST(SpawnedWorkers, GetTheLoaderOfTheIteratorWithTheirSeed) {
  RankRecords rank;
  rank.processes = {worker(77)};
  rank.iterators = {iterator(kTrainer, 1, 76), iterator(kTrainer, 2, 77)};
  rank.batches = {batch(kWorker, 0)};
  rank.samples = {{{}, kWorker, kWorker}};
  name_loaders_of_spawned_workers(rank);
  EXPECT_EQ(rank.batches[0].record.loader, 2u);
  EXPECT_EQ(rank.samples[0].record.loader, 2u);
}

TEST(SpawnedWorkers, BelongToTheirParentWhenTwoTrainersDrewTheSameSeed) {
  RankRecords rank;
  rank.processes = {worker(77)};
  rank.iterators = {iterator(kOtherTrainer, 1, 77), iterator(kTrainer, 2, 77), iterator(kOtherTrainer, 3, 77)};
  rank.batches = {batch(kWorker, 0)};
  name_loaders_of_spawned_workers(rank);
  EXPECT_EQ(rank.batches[0].record.loader, 2u);
}

TEST(SpawnedWorkers, LeaveAForkedWorkersLoaderAndAnUnknownSeedAlone) {
  RankRecords rank;
  rank.processes = {worker(77)};
  rank.iterators = {iterator(kTrainer, 2, 78)};
  rank.batches = {batch(kWorker, 0), batch(kWorker, 5)};
  name_loaders_of_spawned_workers(rank);
  EXPECT_EQ(rank.batches[0].record.loader, 0u);
  EXPECT_EQ(rank.batches[1].record.loader, 5u);
}

}  // namespace
}  // namespace fullbore::record
