#include "diagnose/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using testing::iterator_record;
using testing::kTrainerPid;
using testing::loader_record_of;
using testing::ms;
using testing::next_record;
using testing::RunBuilder;
using testing::step_record;

class FindTrainers : public ::testing::Test {
 protected:
  // `batches` nexts 10 ms apart from begin_ms on and, where `trains`, an optimiser step after each; then the end of it.
  double loop(std::uint32_t loader, std::uint32_t iterator, double begin_ms, int batches, bool trains,
              std::uint32_t pid = kTrainerPid, std::uint32_t tid = kTrainerPid) {
    builder_.rank().iterators.push_back({iterator_record(ms(begin_ms), loader, iterator, 0), pid, tid});
    for (int i = 0; i <= batches; ++i, begin_ms += 10) {
      auto next = next_record(ms(begin_ms), ms(begin_ms + 2), i);
      next.loader = loader;
      next.iterator = iterator;
      next.flags = i == 0 ? wire::kFirst : i == batches ? wire::kStop : 0u;
      builder_.rank().nexts.push_back({next, pid, tid});
      if (trains && i < batches)
        builder_.rank().steps.push_back({step_record(ms(begin_ms + 5), ms(begin_ms + 6)), pid, kTrainerPid});
    }
    return begin_ms;
  }

  std::vector<Trainer> find() {
    run_ = builder_.take();
    return find_trainers(run_);
  }

  RunBuilder builder_;
  record::Run run_;
};

TEST_F(FindTrainers, TellsTrainingFromAnEvenLongerValidation) {
  const double end = loop(1, 1, 0, 10, true);
  loop(2, 2, end, 50, false);
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_EQ(trainers[0].loop, LoopKind::kLoader);
  EXPECT_THAT(trainers[0].loaders, ElementsAre(1u));
  ASSERT_EQ(trainers[0].validations.size(), 1u);
  EXPECT_EQ(trainers[0].validations[0].begin_ns, ms(110));
  EXPECT_EQ(trainers[0].validations[0].end_ns, ms(612));
  EXPECT_EQ(trainers[0].validations[0].wait_ns, ms(51 * 2));
}

TEST_F(FindTrainers, ABatchDrawnFromAnotherLoaderNowAndThenIsValidation) {
  double end = 0;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    end = loop(1, 1 + 2 * epoch, end, 20, true);
    auto next = next_record(ms(end), ms(end + 2), 0);
    next.loader = 2;
    next.iterator = 2 + 2 * epoch;
    builder_.rank().nexts.push_back({next, kTrainerPid, kTrainerPid});
    end += 3;
  }
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_THAT(trainers[0].loaders, ElementsAre(1u));
  EXPECT_EQ(trainers[0].validations.size(), 3u);
}

TEST_F(FindTrainers, ALoaderReadInEveryIterationIsACompanion) {
  loop(1, 1, 0, 20, true);
  for (int i = 0; i < 20; ++i) {
    auto next = next_record(ms(10 * i + 2), ms(10 * i + 3), i);
    next.loader = 2;
    next.iterator = 2;
    builder_.rank().nexts.push_back({next, kTrainerPid, kTrainerPid});
  }
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_TRUE(trainers[0].validations.empty());
  EXPECT_EQ(trainers[0].nexts.size() + trainers[0].companions.size(), 41u);
}

TEST_F(FindTrainers, AccumulationTrainsWithEachOfItsIterations) {
  loop(1, 1, 0, 40, false);
  for (int i = 3; i < 40; i += 4)
    builder_.rank().steps.push_back({step_record(ms(10 * i + 5), ms(10 * i + 6)), kTrainerPid, kTrainerPid});
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_EQ(trainers[0].loop, LoopKind::kLoader);
  EXPECT_EQ(trainers[0].nexts.size(), 41u);
}

TEST_F(FindTrainers, OneLoaderBuiltAnewPerEpochCountsAsOne) {
  double end = 0;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    auto record = loader_record_of(id, 2);
    record.file = builder_.name("train.py");
    record.line = 41;
    builder_.rank().loaders.push_back({record, kTrainerPid, kTrainerPid});
    end = loop(id, id, end, 5, true);
  }
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_THAT(trainers[0].loaders, ElementsAre(1u, 2u, 3u));
  EXPECT_EQ(trainers[0].iterators.size(), 3u);
}

TEST_F(FindTrainers, TrainAndTestLoadersOfOneHelperStayApart) {
  for (std::uint32_t id = 1; id <= 2; ++id) {
    auto record = loader_record_of(id, 2);
    record.file = builder_.name("data.py");
    record.line = 12;
    record.dataset_length = id == 1 ? 50'000 : 10'000;
    builder_.rank().loaders.push_back({record, kTrainerPid, kTrainerPid});
  }
  const double end = loop(1, 1, 0, 10, true);
  loop(2, 2, end, 10, false);
  const auto trainers = find();
  EXPECT_THAT(trainers[0].loaders, ElementsAre(1u));
  EXPECT_EQ(trainers[0].validations.size(), 1u);
}

TEST_F(FindTrainers, ALoaderReadByAnotherThreadDoesNotMarkTheSteps) {
  loop(1, 1, 0, 20, true, kTrainerPid, kTrainerPid + 1);
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_EQ(trainers[0].loop, LoopKind::kSteps);
}

TEST_F(FindTrainers, ALoopOverTheLoaderWithoutAnyOptimiserIsFollowed) {
  loop(1, 1, 0, 20, false);
  EXPECT_EQ(find()[0].loop, LoopKind::kLoader);
}

TEST_F(FindTrainers, ObservedBatchesMarkALoopWithoutALoader) {
  for (int i = 0; i < 5; ++i)
    builder_.rank().user_steps.push_back({{ms(10 * i), ms(10 * i + 4), 8, 1}, kTrainerPid, kTrainerPid});
  const auto trainers = find();
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_EQ(trainers[0].loop, LoopKind::kUserSteps);
}

TEST_F(FindTrainers, SpawnedTrainersOfOneRankAreJudgedApart) {
  loop(1, 1, 0, 10, true, 100, 100);
  loop(1, 1, 1000, 10, true, 200, 200);
  EXPECT_EQ(find().size(), 2u);
}

TEST_F(FindTrainers, TimesThatGoBackwardsAreLeftOut) {
  loop(1, 1, 0, 10, true);
  builder_.rank().nexts.push_back({next_record(ms(50), ms(20), 99), kTrainerPid, kTrainerPid});
  const auto trainers = find();
  EXPECT_EQ(trainers[0].unordered, 1);
  EXPECT_EQ(trainers[0].nexts.size(), 11u);
}

TEST_F(FindTrainers, FindsNobodyInARunWithoutRecords) {
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace fullbore::diagnose
