#include "diagnose/ownership.h"

#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::iterator_record;
using testing::kTrainerPid;
using testing::process_record;
using testing::RunBuilder;

class OwnershipOf : public ::testing::Test {
 protected:
  OwnershipOf() {
    trainer_.rank = &builder_.rank();
    trainer_.pid = kTrainerPid;
    trainer_.loaders = {1};
    trainer_.iterators = {&iterator_};
  }

  void add_worker(std::uint32_t pid, std::uint32_t parent, std::int64_t seed) {
    auto process = process_record(wire::Role::kWorker, parent);
    process.base_seed = seed;
    builder_.rank().processes.push_back({process, pid, pid});
  }

  RunBuilder builder_;
  wire::IteratorRecord iterator_ = iterator_record(0, 1, 1, 2);
  Trainer trainer_;
};

TEST_F(OwnershipOf, TheTrainingThreadOwnsItsLoaderOnly) {
  EXPECT_TRUE(Ownership(trainer_).owns(kTrainerPid, 1));
  EXPECT_FALSE(Ownership(trainer_).owns(kTrainerPid, 2));
}

TEST_F(OwnershipOf, ASeedTiesAWorkerWhateverItCallsTheLoader) {
  add_worker(7, 4242, iterator_.base_seed);
  EXPECT_TRUE(Ownership(trainer_).owns(7, 0));
}

TEST_F(OwnershipOf, AnotherSeedIsAnotherLoadersWorker) {
  add_worker(7, kTrainerPid, iterator_.base_seed + 1);
  EXPECT_FALSE(Ownership(trainer_).owns(7, 1));
}

TEST_F(OwnershipOf, WithoutASeedParentAndNumberMustDo) {
  add_worker(7, kTrainerPid, wire::kUnknown);
  EXPECT_TRUE(Ownership(trainer_).owns(7, 1));
  EXPECT_FALSE(Ownership(trainer_).owns(7, 2));
}

TEST_F(OwnershipOf, AStrangerIsOursOnlyIfThereIsNoOtherTrainer) {
  EXPECT_TRUE(Ownership(trainer_).owns(7, 1));
  for (const std::uint32_t pid : {kTrainerPid, kTrainerPid + 1})
    builder_.rank().nexts.push_back({testing::next_record(0, 1, 0), pid, pid});
  EXPECT_FALSE(Ownership(trainer_).owns(7, 1));
}

}  // namespace
}  // namespace fullbore::diagnose
