#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;

TEST(InsufficientData, IsSaidOfARunWithoutRecords) {
  const Diagnosis diagnosis = diagnose(record::Run{});
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_TRUE(diagnosis.account.parts.empty());
  EXPECT_FALSE(diagnosis.steps.mean_ms);
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("fullbore.observe"));
}

TEST(InsufficientData, IsSaidOfAFewSteps) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 0, .batches = 8, .sample_ms = 3}));
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("20 are needed"));
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kNone);
}

TEST(InsufficientData, IsSaidOfOneStep) {
  EXPECT_EQ(diagnose(simulate({.batches = 1})).verdict.cause, "insufficient_data");
}

TEST(InsufficientData, ThirtySecondsMakeUpForFewSteps) {
  const Diagnosis diagnosis = diagnose(simulate({.workers = 0, .batches = 12, .body_ms = 2000, .sample_ms = 100}));
  EXPECT_EQ(diagnosis.verdict.cause, "no_workers");
}

TEST(InsufficientData, IsSaidOfALoopWithoutALoader) {
  record::Run run = simulate({});
  run.ranks[0].nexts.clear();
  run.ranks[0].batches.clear();
  const Diagnosis diagnosis = diagnose(run);
  EXPECT_EQ(diagnosis.verdict.cause, "insufficient_data");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("no torch DataLoader"));
  EXPECT_FALSE(diagnosis.account.parts.contains("input_wait"));
  EXPECT_FALSE(diagnosis.steps.wait_mean_ms);
  EXPECT_TRUE(diagnosis.steps.mean_ms);
}

}  // namespace
}  // namespace fullbore::diagnose
