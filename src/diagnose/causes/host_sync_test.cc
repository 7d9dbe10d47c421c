#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::kTrainerPid;
using testing::ms;
using testing::simulate;
using testing::Simulation;

// A loop of 50 ms, of which `read_ms` in loss.item() at line 57.
record::Run reading(double read_ms, const char* device, double loop_cpu_ms) {
  testing::RunBuilder builder;
  Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4, .body_cpu_ms = loop_cpu_ms};
  simulation.device = device;
  simulate_into(builder, simulation);
  for (auto& next : builder.rank().nexts) next.record.loop_cpu_ns = ms(loop_cpu_ms);
  for (const auto& [line, wall_ms, stage] :
       {std::tuple{55, 50 - read_ms, wire::Stage::kModel}, std::tuple{57, read_ms, wire::Stage::kBlocking}}) {
    for (const char* callee : {"", stage == wire::Stage::kBlocking ? "torch.Tensor.item" : "torch.nn.Module"}) {
      wire::ProfileRecord record{};
      record.time_ns = *builder.run.info.end_ns;
      record.wall_ns = ms(wall_ms);
      record.window_ns = ms(50);
      record.loader = 1;
      record.where = wire::Where::kLoop;
      record.stage = stage;
      record.line = line;
      record.count = record.windows = 1;
      record.file = builder.name("/home/ada/train.py");
      record.name = builder.name(callee);
      builder.rank().profile.push_back({record, kTrainerPid, kTrainerPid});
    }
  }
  return builder.take();
}

TEST(HostSync, IsNamedWithTheCallAndItsLine) {
  const Diagnosis diagnosis = diagnose(reading(20, "cpu", 20));
  EXPECT_EQ(diagnosis.verdict.cause, "host_sync");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("torch.Tensor.item (train.py:57)"));
  EXPECT_EQ(diagnosis.causes[0].where->line, 57);
  EXPECT_NEAR(diagnosis.causes[0].share, 0.4, 0.01);
  EXPECT_NEAR(*diagnosis.causes[0].gain.max, 1 / 0.6, 0.05);
  EXPECT_NEAR(diagnosis.account.parts.at("host_sync").share, 0.4, 0.01);
  EXPECT_NEAR(diagnosis.account.parts.at("model").share, 0.6, 0.01);
}

TEST(HostSync, CountsOnlyWhatTheHostCouldDoMeanwhile) {
  const Diagnosis diagnosis = diagnose(reading(44, "cpu", 5));
  EXPECT_EQ(diagnosis.verdict.cause, "host_sync");
  EXPECT_NEAR(diagnosis.causes[0].share, 0.12, 0.01);
}

TEST(HostSync, IsNotNamedWhereThereIsNothingToDoMeanwhile) {
  EXPECT_EQ(diagnose(reading(49, "cpu", 1)).verdict.cause, "compute_bound");
}

TEST(HostSync, IsNotNamedForAConversionThatKeepsTheThreadBusy) {
  EXPECT_EQ(diagnose(reading(20, "cpu", 50)).verdict.cause, "compute_bound");
}

TEST(HostSync, OfAGpuCountsReadsThatSpin) {
  EXPECT_EQ(diagnose(reading(20, "cuda:0", 50)).verdict.cause, "host_sync");
}

}  // namespace
}  // namespace fullbore::diagnose
