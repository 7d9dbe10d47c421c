#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::kTrainerPid;

testing::RunBuilder crashed(int batches, std::int32_t code) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .batches = batches, .body_ms = 20, .sample_ms = 0.4});
  builder.rank().worker_exits.push_back({{*builder.run.info.end_ns, 111, 1, code, 1}, kTrainerPid, kTrainerPid});
  return builder;
}

TEST(WorkerCrash, ComesFirstWhateverElseIsThere) {
  const Diagnosis diagnosis = diagnose(crashed(120, -SIGSEGV).take());
  EXPECT_EQ(diagnosis.verdict.cause, "worker_crash");
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kCritical);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("Worker 1 (pid 111) was ended by a segmentation fault"));
  EXPECT_EQ(diagnosis.causes[0].cost, "the run ended at step 120");
}

TEST(WorkerCrash, IsNamedAfterTooFewStepsToJudgeByToo) {
  const Diagnosis diagnosis = diagnose(crashed(5, -SIGKILL).take());
  EXPECT_EQ(diagnosis.verdict.cause, "worker_crash");
  EXPECT_EQ(diagnosis.causes.back().cause, "insufficient_data");
}

TEST(WorkerCrash, SaysWhenItWasTheMemoryLimit) {
  testing::RunBuilder builder = crashed(120, -SIGKILL);
  builder.counter("cgroup.oom_kills", 0.5, *builder.run.info.end_ns);
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("the memory limit of the control group was reached"));
  EXPECT_THAT(diagnosis.causes[0].fix.text, HasSubstr("fit into the memory limit"));
}

TEST(WorkerCrash, DoesNotBlameMemoryForAKillThatWasNone) {
  EXPECT_THAT(diagnose(crashed(120, -SIGKILL).take()).causes[0].fix.text, HasSubstr("see who sends SIGKILL"));
}

TEST(WorkerCrash, OfAnotherProcessIsNotOurs) {
  testing::RunBuilder builder = crashed(120, -SIGKILL);
  builder.rank().worker_exits[0].pid = 999;
  EXPECT_EQ(diagnose(builder.take()).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
