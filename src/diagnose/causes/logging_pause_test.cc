#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::kTrainerPid;
using testing::ms;

testing::RunBuilder training() {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .body_ms = 50, .sample_ms = 0.4});
  return builder;
}

// A log record of `each_ms` in every fifth loop body of 50 ms.
testing::RunBuilder logging(double each_ms) {
  testing::RunBuilder builder = training();
  const wire::NameId file = builder.name("/home/ada/train.py");
  const auto nexts = builder.rank().nexts;
  for (std::size_t i = 0; i + 1 < nexts.size(); i += 5) {
    const std::int64_t begin = nexts[i].record.end_ns + ms(1);
    auto interval = testing::interval_record(wire::IntervalKind::kLogging, begin, begin + ms(each_ms));
    interval.file = file;
    interval.line = 71;
    builder.rank().intervals.push_back({interval, kTrainerPid, kTrainerPid});
  }
  return builder;
}

void add_callee(testing::RunBuilder& builder, const char* name, double of_50_ms) {
  for (const char* callee : {"", name}) {
    wire::ProfileRecord record{};
    record.time_ns = *builder.run.info.end_ns;
    record.wall_ns = ms(of_50_ms);
    record.window_ns = ms(50);
    record.loader = 1;
    record.where = wire::Where::kLoop;
    record.stage = wire::Stage::kPause;
    record.line = 72;
    record.count = record.windows = 1;
    record.file = builder.name("/home/ada/train.py");
    record.name = builder.name(callee);
    builder.rank().profile.push_back({record, kTrainerPid, kTrainerPid});
  }
}

TEST(LoggingPause, IsNamedWithTheLineThatLogs) {
  const Diagnosis diagnosis = diagnose(logging(45).take());
  EXPECT_EQ(diagnosis.verdict.cause, "logging_pause");
  ASSERT_TRUE(diagnosis.causes[0].where);
  EXPECT_EQ(diagnosis.causes[0].where->line, 71);
  EXPECT_NEAR(diagnosis.causes[0].share, 0.18, 0.02);
}

TEST(LoggingPause, IsNamedForAnExperimentTrackerInEveryStep) {
  testing::RunBuilder builder = training();
  add_callee(builder, "mlflow.log_metric", 15);
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_EQ(diagnosis.verdict.cause, "logging_pause");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("mlflow.log_metric writes or sends (train.py:72)"));
}

TEST(LoggingPause, IsNotNamedForAPauseOfAnotherKind) {
  testing::RunBuilder builder = training();
  add_callee(builder, "time.sleep", 30);
  EXPECT_EQ(diagnose(builder.take()).verdict.cause, "compute_bound");
}

TEST(LoggingPause, IsNotNamedForQuickRecords) {
  EXPECT_EQ(diagnose(logging(4).take()).verdict.cause, "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
