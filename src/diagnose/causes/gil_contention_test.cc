#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

// A run of some ten seconds whose training thread was looked at five times a second.
record::Run looked_at(double waits_per_s, double looks_per_s = 5, int batches = 200) {
  testing::RunBuilder builder;
  simulate_into(builder, {.workers = 2, .batches = batches, .body_ms = 50, .sample_ms = 0.4});
  const std::int64_t end = *builder.run.info.end_ns;
  builder.counter("thread.lock_looks", looks_per_s, end, "trainer/100/100");
  builder.counter("thread.lock_waits", waits_per_s, end, "trainer/100/100");
  return builder.take();
}

TEST(GilContention, IsNamedWhereTheTrainingThreadWaitsForTheLock) {
  const Diagnosis diagnosis = diagnose(looked_at(2));
  EXPECT_EQ(diagnosis.verdict.cause, "gil_contention");
  EXPECT_NEAR(diagnosis.causes[0].share, 0.4, 0.01);
}

TEST(GilContention, IsNotNamedForALookInTwenty) {
  EXPECT_EQ(diagnose(looked_at(0.25)).verdict.cause, "compute_bound");
}

TEST(GilContention, IsNotNamedFromAFewLooks) {
  EXPECT_EQ(diagnose(looked_at(2, 5, 60)).verdict.cause, "compute_bound");
}

TEST(GilContention, IsNotNamedWhereNobodyLooked) {
  EXPECT_EQ(diagnose(testing::simulate({.workers = 2, .body_ms = 50, .sample_ms = 0.4})).verdict.cause,
            "compute_bound");
}

}  // namespace
}  // namespace fullbore::diagnose
