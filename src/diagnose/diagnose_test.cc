#include "diagnose/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::kTrainerPid;
using testing::ms;
using testing::RunBuilder;
using testing::simulate;

TEST(Diagnose, ReportsTheRankThatWaitsMost) {
  RunBuilder builder;
  testing::simulate_into(builder, {.workers = 4, .body_ms = 100, .sample_ms = 1, .rank = 0});
  testing::simulate_into(builder, {.workers = 0, .body_ms = 30, .sample_ms = 2, .rank = 1});
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("Rank 1: "));
  EXPECT_EQ(diagnosis.facts.at("trainers"), "2");
  EXPECT_THAT(diagnosis.facts.at("trainer rank 0 (pid 100)"), HasSubstr("compute_bound"));
}

TEST(Diagnose, NamesTheNextLimitToo) {
  const Diagnosis diagnosis =
      diagnose(simulate({.workers = 0, .sample_ms = 2, .checkpoint_every = 20, .checkpoint_ms = 900}));
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, "no_workers");
  EXPECT_EQ(diagnosis.causes[1].cause, "checkpoint_pause");
}

TEST(Diagnose, SaysWhenTheRunChanged) {
  RunBuilder builder;
  testing::simulate_into(builder, {.workers = 0, .batches = 100, .body_ms = 30, .sample_ms = 3});
  record::Run run = builder.take();
  // From the middle on the same batches are there at once.
  auto& nexts = run.ranks[0].nexts;
  for (std::size_t i = 50; i < nexts.size(); ++i) nexts[i].record.end_ns = nexts[i].record.begin_ns + 1000;
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_THAT(diagnosis.changed_at, HasSubstr("s after the start"));
  EXPECT_NE(diagnosis.verdict.confidence, Confidence::kHigh);
  EXPECT_THAT(diagnosis.verdict.confidence_why, HasSubstr("the run changed on the way"));
}

TEST(Diagnose, SaysThatAGpuHidesPartOfTheWait) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 0, .sample_ms = 3, .device = "cuda:0"}));
  EXPECT_THAT(diagnosis.missing, Contains(Field(&Missing::signal, "gpu")));
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kMedium);
  EXPECT_EQ(diagnosis.verdict.confidence_why, "the GPU may have had work queued while the loop waited");
}

TEST(Diagnose, GivesNoReasonForFullConfidence) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 0, .sample_ms = 3}));
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kHigh);
  EXPECT_EQ(diagnosis.verdict.confidence_why, "");
}

TEST(Diagnose, CountsTheStepsWhereTheyAreTooFew) {
  EXPECT_THAT(diagnose(simulate({.batches = 10})).verdict.confidence_why, HasSubstr("steady step"));
}

TEST(Diagnose, NamesWhatIsMissing) {
  record::Run run = simulate({.workers = 2, .sample_ms = 3});
  run.ranks[0].dropped = 7;
  run.damage = {"rank-0/records.fbr: cut short at byte 81920"};
  run.info.missing = {{"pressure", "no /proc/pressure"}};
  const auto missing = diagnose(run).missing;
  EXPECT_THAT(missing, Contains(Field(&Missing::why, HasSubstr("7 records"))));
  EXPECT_THAT(missing, Contains(Field(&Missing::why, HasSubstr("81920"))));
  EXPECT_THAT(missing, Contains(Field(&Missing::signal, "pressure")));
}

TEST(Diagnose, SamplesOfALoopWithoutADataLoaderAreSeenByObserve) {
  RunBuilder builder;
  for (int i = 0; i < 60; ++i)
    builder.rank().user_steps.push_back({{ms(50 * i), ms(50 * i + 30), 8, 1}, kTrainerPid, kTrainerPid});
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_NEAR(diagnosis.account.parts.at("input_wait").share, 0.6, 1e-9);
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("waits 60 % of each step"));
}

TEST(Diagnose, BothViewsOfTheStepSumToIt) {
  record::Run run = simulate({.workers = 0, .sample_ms = 3});
  wire::ProfileRecord line{};
  line.time_ns = ms(5000);
  line.window_ns = ms(100);
  line.wall_ns = ms(60);
  line.windows = 1;
  line.loader = 1;
  line.stage = wire::Stage::kWait;
  line.line = 52;
  run.ranks[0].profile.push_back({line, kTrainerPid, kTrainerPid});
  const Diagnosis diagnosis = diagnose(run);
  double lines_ms = 0;
  for (const LineTime& time : diagnosis.loop_lines) lines_ms += time.ms;
  EXPECT_NEAR(lines_ms, diagnosis.account.step_ms, 1e-6);
  EXPECT_EQ(diagnosis.loop_lines.front().kind, "wait");
}

// Records at any point cut off, in any order of loss, must never crash or invent a number.
TEST(Diagnose, SurvivesDamagedRuns) {
  const record::Run whole =
      simulate({.workers = 2, .epochs = 3, .batches = 20, .sample_ms = 3, .persistent = false, .validation_ms = 100});
  for (int damage = 0; damage < 12; ++damage) {
    record::Run run = whole;
    auto& rank = run.ranks[0];
    if (damage == 0) rank.loaders.clear();
    if (damage == 1) rank.iterators.clear();
    if (damage == 2) rank.processes.clear();
    if (damage == 3) rank.steps.clear();
    if (damage == 4) run.names.clear();
    if (damage == 5) run.series.clear();
    if (damage == 6) std::erase_if(rank.nexts, [](const auto& next) { return next.record.batch % 3 == 0; });
    if (damage == 7) std::erase_if(rank.batches, [](const auto& batch) { return batch.record.batch % 3 == 0; });
    if (damage == 8) std::ranges::reverse(rank.nexts);
    if (damage == 9)
      for (auto& next : rank.nexts) next.record.end_ns = 0;
    if (damage == 10)
      for (auto& batch : rank.batches) batch.record.worker = 77;
    if (damage == 11)
      for (auto& next : rank.nexts) next.record.batch = wire::kUnknown;
    const Diagnosis diagnosis = diagnose(run);
    EXPECT_FALSE(diagnosis.verdict.summary.empty()) << damage;
    for (const auto& [id, part] : diagnosis.account.parts)
      EXPECT_TRUE(part.share >= 0 && part.share <= 1.000001) << damage << id;
  }
}

TEST(Diagnose, JudgesAMillionStepsInTime) {
  record::Run run = simulate({.workers = 4, .batch = 2, .batches = 1'000'000, .body_ms = 3, .sample_ms = 5});
  const auto begin = std::chrono::steady_clock::now();
  const Diagnosis diagnosis = diagnose(run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(diagnosis.steps.count, 990'000);
  RecordProperty("seconds", std::to_string(took.count()));
  EXPECT_LT(took.count(), 30);  // far above what it takes; a quadratic walk would need hours
}

}  // namespace
}  // namespace fullbore::diagnose
