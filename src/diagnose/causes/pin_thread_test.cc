#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

// Finished batches arrive 30 ms late; the thread that pins is on a core for `busy` of the time.
record::Run pinning(double busy, bool pinned = true) {
  testing::RunBuilder builder;
  testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.unpickle_ms = 30;
  simulation.device = "cuda:0";
  simulate_into(builder, simulation);
  if (pinned) builder.rank().loaders[0].record.flags |= wire::kPinMemory;
  builder.counter("thread.cpu_s", busy, *builder.run.info.end_ns, "pin/100/107");
  return builder.take();
}

TEST(PinThread, IsNamedWhereTheThreadThatPinsIsBusy) {
  const Diagnosis diagnosis = diagnose(pinning(0.95));
  EXPECT_EQ(diagnosis.verdict.cause, "pin_thread");
  for (const Cause& cause : diagnosis.causes) EXPECT_NE(cause.cause, "handoff");
}

TEST(PinThread, IsNotNamedWhereItIsIdle) {
  EXPECT_EQ(diagnose(pinning(0.3)).verdict.cause, "handoff");
}

TEST(PinThread, IsNotNamedForALoaderThatDoesNotPin) {
  EXPECT_EQ(diagnose(pinning(0.95, false)).verdict.cause, "handoff");
}

}  // namespace
}  // namespace fullbore::diagnose
