#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::RunBuilder;
using testing::simulate_into;

Diagnosis after(std::string_view text, int batches) {
  RunBuilder builder;
  simulate_into(builder, {.workers = 4, .batches = batches});
  for (auto& next : builder.rank().nexts) next.record.batch_bytes = 12'000'000;
  builder.gauge("shm.size_bytes", 64e6);
  builder.gauge("shm.free_bytes", 3e6);
  builder.rank().failures.push_back(
      {{1, builder.name("builtins.RuntimeError"), builder.name(text), wire::kUnknown32, 2}, 112, 112});
  return diagnose(builder.take());
}

constexpr std::string_view kNoSpace =
    "unable to allocate shared memory(shm) for file </torch_112_1>: No space left on device (28)";

TEST(ShmLimit, IsNamedWithWhatWouldBeNeeded) {
  const Diagnosis diagnosis = after(kNoSpace, 120);
  EXPECT_EQ(diagnosis.verdict.cause, "shm_limit");
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kCritical);
  EXPECT_EQ(diagnosis.verdict.confidence, Confidence::kHigh);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("/dev/shm has 64 MB"));
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("in flight is 108 MB"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("--shm-size=162m"));
}

TEST(ShmLimit, IsNamedBeforeThereIsEnoughToJudgeBy) {
  EXPECT_EQ(after(kNoSpace, 3).verdict.cause, "shm_limit");
}

TEST(ShmLimit, IsNotNamedForOtherErrors) {
  EXPECT_EQ(after("CUDA error: invalid argument", 3).verdict.cause, "insufficient_data");
  EXPECT_NE(after("No space left on device", 120).verdict.cause, "shm_limit");
}

}  // namespace
}  // namespace fullbore::diagnose
