#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate_into;
using testing::Simulation;

constexpr double kMb = 1e6;

struct Memory {
  double limit_mb = 0, anon_mb = 0, total_mb = 16'000, available_mb = 12'000;
  double later_share = 1;  // of the bytes of later passes, from the device
};

// 40 batches of 1.6 MB: one pass reads 64 MB.
Diagnosis with(const Memory& memory, int epochs = 3) {
  testing::RunBuilder builder;
  testing::Simulation simulation = testing::reading_from_a_device(2, 3);
  simulation.epochs = epochs;
  simulation.batches = 40;
  simulate_into(builder, simulation);
  builder.gauge("memory.total_bytes", memory.total_mb * kMb);
  builder.gauge("memory.available_bytes", memory.available_mb * kMb);
  if (memory.limit_mb > 0) {
    builder.gauge("cgroup.memory_limit_bytes", memory.limit_mb * kMb);
    builder.gauge("cgroup.memory_bytes", memory.limit_mb * kMb);
    builder.gauge("cgroup.memory_anon_bytes", memory.anon_mb * kMb);
  }
  auto& batches = builder.rank().batches;
  for (std::size_t i = 40; i < batches.size(); ++i)
    batches[i].record.read_bytes =
        static_cast<std::int64_t>(static_cast<double>(batches[i].record.read_bytes) * memory.later_share);
  return diagnose(builder.take());
}

TEST(CacheThrash, IsNamedWhenALimitLeavesNoRoomForTheSet) {
  const Diagnosis diagnosis = with({.limit_mb = 100, .anon_mb = 60});
  EXPECT_EQ(diagnosis.verdict.cause, "cache_thrash");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("the memory limit of the control group leaves 38 MiB"));
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("by 23 MiB or more"));
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

TEST(CacheThrash, IsNotNamedWhereTheSetFits) {
  EXPECT_EQ(with({.limit_mb = 200, .anon_mb = 60}).verdict.cause, "storage_bandwidth");
}

TEST(CacheThrash, IsNotNamedWhereNoMemoryOfTheMachineWouldDo) {
  EXPECT_EQ(with({.total_mb = 50, .available_mb = 30}).verdict.cause, "storage_bandwidth");
}

TEST(CacheThrash, IsNotNamedAfterOnePass) {
  EXPECT_EQ(with({.limit_mb = 100, .anon_mb = 60}, 1).verdict.cause, "storage_bandwidth");
}

TEST(CacheThrash, IsNotNamedWhenLaterPassesReadFromMemory) {
  const Diagnosis diagnosis = with({.limit_mb = 100, .anon_mb = 60, .later_share = 0});
  for (const Cause& cause : diagnosis.causes) EXPECT_NE(cause.cause, "cache_thrash");
}

}  // namespace
}  // namespace fullbore::diagnose
