#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;

TEST(ComputeBound, SaysToLeaveTheLoaderAlone) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 2, .body_ms = 50, .sample_ms = 1}));
  EXPECT_EQ(diagnosis.verdict.cause, "compute_bound");
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kNone);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("Leave the loader alone"));
  EXPECT_LT(*diagnosis.causes.front().gain.max, 1.05);
}

TEST(ComputeBound, NamesAPauseThatHasNoCauseOfItsOwn) {
  record::Run run = simulate({.workers = 2, .body_ms = 50, .sample_ms = 1});
  for (const auto& next : run.ranks[0].nexts) {
    run.ranks[0].intervals.push_back({testing::interval_record(wire::IntervalKind::kCollective, next.record.end_ns,
                                                               next.record.end_ns + testing::ms(10)),
                                      testing::kTrainerPid, testing::kTrainerPid});
  }
  EXPECT_THAT(diagnose(run).verdict.summary, HasSubstr("waiting for other ranks takes 20 % of all time"));
}

TEST(ComputeBound, IsNotClaimedForAWaitThatNobodyExplains) {
  // How the batches were made is not on record.
  record::Run run = simulate({.workers = 1, .prefetch = 1, .body_ms = 50, .sample_ms = 0.1, .handoff_ms = 400});
  run.ranks[0].batches.clear();
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("cannot be told from this run"));
}

TEST(ComputeBound, IsSaidWithLessConfidenceOfAGpu) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 2, .body_ms = 50, .sample_ms = 1, .device = "cuda:0"}));
  EXPECT_EQ(diagnosis.verdict.cause, "compute_bound");
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kMedium);
}

}  // namespace
}  // namespace fullbore::diagnose
