#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(InsufficientData, TellsAFailedCommandToBeMendedAndNothingOfLoops) {
  record::Run none;
  none.info.exit_code = 1;
  EXPECT_EQ(diagnose(none).verdict.summary, "The command failed before a training loop was seen.");
  EXPECT_THAT(diagnose(none).causes.front().fix.text, Not(HasSubstr("fullbore.observe")));

  record::Run few = simulate({.workers = 0, .batches = 8, .sample_ms = 3});
  few.info.exit_code.reset();
  few.info.signal = SIGSEGV;
  EXPECT_THAT(diagnose(few).verdict.summary, HasSubstr("failed after"));
  few.info.signal = SIGINT;
  EXPECT_THAT(diagnose(few).verdict.summary, HasSubstr("20 are needed"));
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
