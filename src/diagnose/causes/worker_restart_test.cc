#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// Epochs of 15 steps of 20 ms, between them 0.6 s until new workers have begun.
Simulation short_epochs() {
  return {.workers = 2,
          .epochs = 8,
          .batches = 15,
          .body_ms = 20,
          .sample_ms = 0.4,
          .persistent = false,
          .start_ms = 500,
          .stop_ms = 100};
}

TEST(WorkerRestart, IsJudgedOnTheWholeRun) {
  const Diagnosis diagnosis = diagnose(simulate(short_epochs()));
  EXPECT_EQ(diagnosis.verdict.cause, "worker_restart");
  EXPECT_NEAR(diagnosis.causes.front().share, 0.6 / 0.9, 0.06);
  EXPECT_LT(diagnosis.account.parts.at("input_wait").share, 0.05);
  EXPECT_GT(diagnosis.whole.parts.at("input_wait").share, 0.5);
  ASSERT_EQ(diagnosis.causes.front().fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes.front().fix.settings[0].after, "True");
}

TEST(WorkerRestart, IsNotNamedForPersistentWorkers) {
  Simulation simulation = short_epochs();
  simulation.persistent = true;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

TEST(WorkerRestart, IsNotNamedForOneLongEpoch) {
  Simulation simulation = short_epochs();
  simulation.epochs = 1;
  simulation.batches = 200;
  EXPECT_EQ(diagnose(simulate(simulation)).verdict.cause, "compute_bound");
}

TEST(WorkerRestart, FollowsALoaderThatIsBuiltAnewForEachEpoch) {
  record::Run run = simulate(short_epochs());
  auto& rank = run.ranks[0];
  for (std::uint32_t id = 11; id <= 18; ++id) {
    auto loader = rank.loaders[0];
    loader.record.loader = id;
    rank.loaders.push_back(loader);
  }
  for (auto& next : rank.nexts) next.record.loader = 10 + next.record.iterator;
  for (auto& iterator : rank.iterators) iterator.record.loader = 10 + iterator.record.iterator;
  for (auto& batch : rank.batches) batch.record.loader = 10 + (batch.pid - testing::kTrainerPid) / 10;
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_EQ(diagnosis.verdict.cause, "worker_restart");
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("build the DataLoader once"));
}

}  // namespace
}  // namespace fullbore::diagnose
