// What is done once, or once per size of a batch, and what only looks like it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::ms;

// 200 steps of 50 ms, of which `at` is `extra_ms` longer: what follows is that much later.
class Steps {
 public:
  explicit Steps(testing::Simulation simulation = {.workers = 2, .batches = 200, .body_ms = 50, .sample_ms = 0.4}) {
    run_ = testing::simulate(simulation);
    run_.info.stopped_by = "command ended";
    for (auto& next : rank().nexts) next.record.batch_bytes = 1'000'000;
  }

  void lengthen(std::size_t at, double extra_ms) {
    const std::int64_t from = rank().nexts[at].record.end_ns;
    const auto move = [&](std::int64_t& time) { time += time > from ? ms(extra_ms) : 0; };
    for (auto& next : rank().nexts) move(next.record.begin_ns), move(next.record.end_ns);
    for (auto& step : rank().steps) move(step.record.begin_ns), move(step.record.end_ns);
    for (auto& batch : rank().batches) {
      for (std::int64_t* time : {&batch.record.begin_ns, &batch.record.fetched_ns, &batch.record.collated_ns,
                                 &batch.record.put_ns, &batch.record.slowest_begin_ns})
        move(*time);
    }
    for (auto& series : run_.series) std::ranges::for_each(series.time_ns, move);
  }
  void set_bytes(std::size_t at, std::int64_t bytes) { rank().nexts[at].record.batch_bytes = bytes; }
  record::RankRecords& rank() { return run_.ranks[0]; }
  record::Run& run() { return run_; }

 private:
  record::Run run_;
};

// Every tenth step has a batch of a length that was not there before, and takes so long.
Steps with_new_sizes(double extra_ms) {
  Steps steps;
  for (std::size_t at = 30; at < 190; at += 10) {
    steps.set_bytes(at, 1'000'000 + static_cast<std::int64_t>(at) * 100);
    steps.lengthen(at, extra_ms);
  }
  return steps;
}

const Cause* find(const Diagnosis& diagnosis) {
  const auto found = std::ranges::find(diagnosis.causes, "warmup", &Cause::cause);
  return found == diagnosis.causes.end() ? nullptr : &*found;
}

bool named(const record::Run& run) {
  const Diagnosis diagnosis = diagnose(run);
  return find(diagnosis) != nullptr;
}

TEST(Warmup, IsAStepOfSecondsForEachNewSize) {
  const Diagnosis d = diagnose(with_new_sizes(600).run());
  EXPECT_EQ(d.verdict.cause, "warmup") << d.verdict.summary;
  const Cause* cause = find(d);
  ASSERT_NE(cause, nullptr);
  EXPECT_NEAR(cause->share, 16 * 0.6 / (16 * 0.6 + 195 * 0.05), 0.03);
  EXPECT_THAT(cause->summary, HasSubstr("Of 16 steps whose batch has a size that was not there before, 16 take"));
  EXPECT_THAT(cause->fix.text, HasSubstr("pad to multiples"));
}

TEST(Warmup, IsNotNamedForSizesThatTakeLongerBecauseTheyAreLarger) {
  Steps steps;
  for (std::size_t at = 30; at < 190; at += 10) {
    steps.set_bytes(at, 5'000'000 + static_cast<std::int64_t>(at));
    steps.lengthen(at, 600);
  }
  EXPECT_FALSE(named(steps.run())) << "five times the bytes: 25 times the time is usual";
}

TEST(Warmup, IsNotNamedForSlowStepsOfAnySize) {
  Steps steps;
  for (std::size_t at = 30; at < 190; at += 5) {
    if (at % 10 == 0) steps.set_bytes(at, 1'000'000 + static_cast<std::int64_t>(at) * 100);
    steps.lengthen(at, 600);
  }
  for (std::size_t at = 31; at < 190; at += 5) steps.set_bytes(at, 1'000'000 + static_cast<std::int64_t>(at) * 100);
  EXPECT_FALSE(named(steps.run())) << "known sizes are slow as often";
}

TEST(Warmup, IsNotNamedWhereSizesAreNotKnown) {
  Steps steps = with_new_sizes(600);
  for (auto& next : steps.rank().nexts) next.record.batch_bytes = wire::kUnknown;
  EXPECT_FALSE(named(steps.run()));
}

TEST(Warmup, IsNotNamedForACheckpointInThoseSteps) {
  Steps steps = with_new_sizes(600);
  for (std::size_t at = 30; at < 190; at += 10) {
    const std::int64_t begin_ns = steps.rank().nexts[at].record.end_ns + ms(1);
    const auto save = testing::interval_record(wire::IntervalKind::kCheckpoint, begin_ns, begin_ns + ms(595));
    steps.rank().intervals.push_back({save, testing::kTrainerPid, testing::kTrainerPid});
  }
  EXPECT_FALSE(named(steps.run()));
}

TEST(Warmup, IsNotNamedForAFewTensOfMilliseconds) {
  EXPECT_FALSE(named(with_new_sizes(60).run()));
}

TEST(Warmup, IsALongBeginningOfAShortRun) {
  Steps steps;
  steps.lengthen(0, 20'000);
  steps.lengthen(1, 10'000);
  const Diagnosis d = diagnose(steps.run());
  EXPECT_EQ(d.verdict.cause, "warmup") << d.verdict.summary;
  EXPECT_NEAR(find(d)->share, 30.0 / 40, 0.02);
  EXPECT_THAT(d.verdict.summary, HasSubstr("The first 2 steps take 30.0 s longer"));
  EXPECT_THAT(d.verdict.summary, HasSubstr("2000 steps it would be 23 %")) << "30 of 130 s";
}

TEST(Warmup, OfSecondsIsNotWorthAWord) {
  Steps steps;
  for (std::size_t at = 0; at < 4; ++at) steps.lengthen(at, 2'000);
  EXPECT_FALSE(named(steps.run()));
}

TEST(Warmup, IsNotSaidOfARunThatWasWatchedForAWhileOnly) {
  for (const char* stopped : {"--steps", "--for", "watching ended", ""}) {
    Steps steps;
    steps.lengthen(0, 30'000);
    steps.run().info.stopped_by = stopped;
    EXPECT_FALSE(named(steps.run())) << stopped;
  }
}

TEST(Warmup, IsNotAWaitForWorkersOrTheFirstBatch) {
  Steps steps({.workers = 2, .batches = 200, .body_ms = 50, .sample_ms = 0.4, .start_ms = 30'000});
  const Diagnosis d = diagnose(steps.run());
  EXPECT_EQ(d.verdict.cause, "worker_startup") << d.verdict.summary;
  EXPECT_EQ(find(d), nullptr);
}

}  // namespace
}  // namespace fullbore::diagnose
