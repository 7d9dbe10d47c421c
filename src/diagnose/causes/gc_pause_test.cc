#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::kTrainerPid;
using testing::ms;

// A collection of `each_ms` in every fifth loop body of 50 ms, on thread `tid`.
testing::RunBuilder collecting(double each_ms, std::uint32_t tid) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .body_ms = 50, .sample_ms = 0.4});
  const wire::NameId name = builder.name("generation 2");
  const auto nexts = builder.rank().nexts;
  for (std::size_t i = 0; i + 1 < nexts.size(); i += 5) {
    const std::int64_t begin = nexts[i].record.end_ns + ms(1);
    auto interval = testing::interval_record(wire::IntervalKind::kGarbageCollection, begin, begin + ms(each_ms));
    interval.name = name;
    builder.rank().intervals.push_back({interval, kTrainerPid, tid});
  }
  return builder;
}

TEST(GcPause, IsNamedWithHowOftenAndHowLong) {
  const Diagnosis diagnosis = diagnose(collecting(40, kTrainerPid).take());
  EXPECT_EQ(diagnosis.verdict.cause, "gc_pause");
  EXPECT_NEAR(diagnosis.causes[0].share, 40.0 / 250, 0.02);
  EXPECT_THAT(diagnosis.causes[0].fix.text, HasSubstr("gc.freeze()"));
}

TEST(GcPause, IsNotNamedForQuickCollections) {
  EXPECT_EQ(diagnose(collecting(5, kTrainerPid).take()).verdict.cause, "compute_bound");
}

TEST(GcPause, IsNotNamedForThoseOfAnotherThread) {
  EXPECT_EQ(diagnose(collecting(40, 999).take()).verdict.cause, "compute_bound");
}

TEST(GcPause, NamesTheLineThatAsksForIt) {
  testing::RunBuilder builder = collecting(40, kTrainerPid);
  wire::ProfileRecord record{};
  record.time_ns = *builder.run.info.end_ns;
  record.wall_ns = ms(10);
  record.window_ns = ms(50);
  record.loader = 1;
  record.where = wire::Where::kLoop;
  record.stage = wire::Stage::kPause;
  record.line = 63;
  record.count = record.windows = 1;
  record.file = builder.name("/home/ada/train.py");
  record.name = builder.name("gc.collect");
  builder.rank().profile.push_back({record, kTrainerPid, kTrainerPid});
  const Diagnosis diagnosis = diagnose(builder.take());
  ASSERT_TRUE(diagnosis.causes[0].where);
  EXPECT_EQ(diagnosis.causes[0].where->line, 63);
}

}  // namespace
}  // namespace fullbore::diagnose
