#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::simulate_into;
using testing::Simulation;

Simulation waits_for_reads() {
  return {.workers = 2, .body_ms = 20, .sample_ms = 8, .cpu_share = 0.05, .stages = {{wire::Stage::kRead, 0.9}}};
}

Diagnosis on_mount(const Simulation& simulation, const std::string& type) {
  testing::RunBuilder builder;
  simulate_into(builder, simulation);
  builder.gauge("mount.type", 1, type);
  return diagnose(builder.take());
}

TEST(NetworkStorage, IsNamedOnANetworkMountWithIdleCores) {
  const Diagnosis diagnosis = on_mount(waits_for_reads(), "nfs4");
  EXPECT_EQ(diagnosis.verdict.cause, "network_storage");
  EXPECT_EQ(diagnosis.verdict.stage, "read");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("files on a nfs4 file system"));
  EXPECT_EQ(diagnosis.causes.size(), 1u);
}

TEST(NetworkStorage, KeepsMoreRequestsOnTheirWay) {
  const Diagnosis diagnosis = on_mount(waits_for_reads(), "fuse.s3fs");
  ASSERT_EQ(diagnosis.causes.front().fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes.front().fix.settings.front().name, "num_workers");
  EXPECT_GT(std::stoi(diagnosis.causes.front().fix.settings.front().after), 2);
}

TEST(NetworkStorage, IsNotNamedOnALocalFileSystem) {
  for (const char* type : {"ext4", "xfs", "fuseblk", "overlay"})
    EXPECT_EQ(on_mount(waits_for_reads(), type).verdict.cause, "too_few_workers") << type;
}

TEST(NetworkStorage, IsNotNamedWhereSamplesNeedACore) {
  Simulation simulation = waits_for_reads();
  simulation.cpu_share = 1;
  simulation.stages = {{wire::Stage::kDecode, 0.9}};
  EXPECT_EQ(on_mount(simulation, "nfs4").verdict.cause, "too_few_workers");
}

// A lock or a sleep blocks as well, but neither opens nor reads.
TEST(NetworkStorage, IsNotNamedWhereSomethingElseBlocks) {
  Simulation simulation = waits_for_reads();
  simulation.stages = {{wire::Stage::kRead, 0.1}, {wire::Stage::kUserCode, 0.8}};
  EXPECT_EQ(on_mount(simulation, "nfs4").verdict.cause, "too_few_workers");
}

TEST(NetworkStorage, ComesAfterNoWorkers) {
  Simulation simulation = waits_for_reads();
  simulation.workers = 0;
  const Diagnosis diagnosis = on_mount(simulation, "nfs4");
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, "no_workers");
  EXPECT_EQ(diagnosis.causes[1].cause, "network_storage");
}

TEST(NetworkStorage, IsNamedByTheLibraryThatFetches) {
  testing::RunBuilder builder;
  simulate_into(builder, waits_for_reads());
  for (auto& profile : builder.rank().profile) {
    if (profile.record.name != 0) profile.record.name = builder.name("requests.get");
  }
  const Diagnosis diagnosis = diagnose(builder.take());
  EXPECT_EQ(diagnosis.verdict.cause, "network_storage");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("a remote service (requests)"));
}

}  // namespace
}  // namespace fullbore::diagnose
