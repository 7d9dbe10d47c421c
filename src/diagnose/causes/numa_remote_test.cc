#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "diagnose/diagnose.h"
#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBus = "0000:18:00.0";

struct Placed {
  std::optional<double> gpu_node = 1;
  double trainer_on_0 = 1, trainer_on_1 = 0;    // looks a second
  double children_on_0 = 0, children_on_1 = 0;  // the same
  std::optional<double> bound_to = {};
  double copy_ms = 45;
  wire::MemoryKind memory = wire::MemoryKind::kPinned;
  bool hidden = false;                        // kernels run meanwhile
  std::optional<double> pinned_ceiling = 25;  // GB/s; a copy of 45 ms has 2.3
  std::optional<double> pageable_ceiling = 10;
  int ranks = 1;
};

// Steps of 50 ms; in a window of ten, each copies 100 MB first and then runs a kernel.
record::Run placed(const Placed& placed) {
  testing::RunBuilder builder;
  testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.device = "cuda:0";
  simulate_into(builder, simulation);
  record::RankRecords& rank = builder.rank();
  const double first = static_cast<double>(rank.nexts[60].record.begin_ns) / 1e6;
  testing::add_window(rank, first, first + 500);
  for (double begin = first; begin < first + 500; begin += 50) {
    const double end = begin + placed.copy_ms;
    testing::add_copy(rank, begin + 1, end, placed.memory, 100'000'000);
    testing::add_kernel(rank, placed.hidden ? begin : end + 0.1, begin + 49.9);
    testing::add_kernel(rank, begin, begin + 1);
  }
  wire::GpuDeviceRecord device{};
  device.pci_bus_id = builder.name(kBus);
  rank.gpu_devices.push_back({device, testing::kTrainerPid, testing::kTrainerPid});
  if (placed.ranks > 1) rank.processes.front().record.world_size = placed.ranks;

  const std::int64_t end_ns = rank.nexts.back().record.end_ns;
  const std::string pid = std::to_string(testing::kTrainerPid);
  builder.counter("numa.looks", placed.trainer_on_0, end_ns, "trainer/" + pid + "/0");
  builder.counter("numa.looks", placed.trainer_on_1, end_ns, "trainer/" + pid + "/1");
  builder.counter("numa.looks", placed.children_on_0, end_ns, "children/" + pid + "/0");
  builder.counter("numa.looks", placed.children_on_1, end_ns, "children/" + pid + "/1");
  builder.gauge("numa.cores", 16, "0/0-15");
  builder.gauge("numa.cores", 16, "1/16-31");
  if (placed.gpu_node) builder.gauge("gpu.numa_node", *placed.gpu_node, kBus);
  if (placed.bound_to) builder.gauge("numa.bound_to", *placed.bound_to, pid);
  auto& ceilings = builder.run.info.ceilings;
  if (placed.pinned_ceiling) ceilings["pinned_h2d_gb_per_s"] = *placed.pinned_ceiling;
  if (placed.pageable_ceiling) ceilings["pageable_h2d_gb_per_s"] = *placed.pageable_ceiling;
  return builder.take();
}

const Cause* find(const Diagnosis& diagnosis) {
  const auto found = std::ranges::find(diagnosis.causes, "numa_remote", &Cause::cause);
  return found == diagnosis.causes.end() ? nullptr : &*found;
}

bool named(const Placed& where) {
  const Diagnosis diagnosis = diagnose(placed(where));
  return find(diagnosis) != nullptr;
}

TEST(NumaRemote, IsASlowCopyOutOfTheOtherNodesMemory) {
  const Diagnosis d = diagnose(placed({}));
  EXPECT_EQ(d.verdict.cause, "numa_remote") << d.verdict.summary;
  EXPECT_NEAR(d.causes[0].share, 0.88 * (1 - 100e6 / 44e6 / 25), 0.03);
  EXPECT_THAT(d.verdict.summary, HasSubstr("hangs on NUMA node 1, and the training process runs on another one"));
  EXPECT_THAT(d.causes[0].fix.text, HasSubstr("numactl --cpunodebind=1 --membind=1 python train.py"));
  EXPECT_THAT(d.causes[0].fix.text, HasSubstr("taskset -c 16-31 python train.py"));
}

TEST(NumaRemote, IsNotACopyOutOfNearMemory) {
  const Diagnosis d = diagnose(placed({.gpu_node = 0}));
  EXPECT_EQ(d.verdict.cause, "link_saturated") << d.verdict.summary;
  EXPECT_EQ(find(d), nullptr);
}

TEST(NumaRemote, IsNotNamedWhereANumberIsNotKnown) {
  EXPECT_FALSE(named({.gpu_node = std::nullopt})) << "virtual machines do not say";
  EXPECT_FALSE(named({.pinned_ceiling = std::nullopt})) << "slow against what?";
  EXPECT_FALSE(named({.trainer_on_0 = 0, .trainer_on_1 = 0})) << "nobody looked";
}

TEST(NumaRemote, IsNotNamedWhereItCostsNothing) {
  EXPECT_FALSE(named({.pinned_ceiling = 2.4})) << "as fast as this machine can";
  EXPECT_FALSE(named({.hidden = true})) << "beside kernels";
}

TEST(NumaRemote, IsNotNamedForAProcessThatMovesBetweenNodes) {
  EXPECT_FALSE(named({.trainer_on_0 = 0.6, .trainer_on_1 = 0.4}));
  EXPECT_TRUE(named({.trainer_on_0 = 0.8, .trainer_on_1 = 0.2}));
}

TEST(NumaRemote, IsAMaskThatConfinesTheProcessToTheOtherNode) {
  const Diagnosis d = diagnose(placed({.trainer_on_0 = 0, .bound_to = 0}));
  ASSERT_NE(find(d), nullptr);
  EXPECT_THAT(find(d)->fix.text, HasSubstr("what confines it to node 0 now"));
  EXPECT_FALSE(named({.trainer_on_0 = 0, .trainer_on_1 = 1, .bound_to = 1}));
}

TEST(NumaRemote, OfPageableMemoryLooksAtWhoWroteIt) {
  const Placed by_workers{
      .trainer_on_0 = 0, .trainer_on_1 = 1, .children_on_0 = 2, .copy_ms = 20, .memory = wire::MemoryKind::kPageable};
  const Diagnosis d = diagnose(placed(by_workers));
  ASSERT_NE(find(d), nullptr);
  EXPECT_THAT(find(d)->summary, HasSubstr("the workers run on another one"));
  Placed pinned = by_workers;
  pinned.memory = wire::MemoryKind::kPinned;
  EXPECT_FALSE(named(pinned)) << "page-locked memory is the training process's";
}

TEST(NumaRemote, OfSeveralRanksIsBoundPerRank) {
  const Diagnosis d = diagnose(placed({.ranks = 8}));
  ASSERT_NE(find(d), nullptr);
  EXPECT_THAT(find(d)->fix.text, HasSubstr("torchrun --numa-binding=node"));
}

}  // namespace
}  // namespace fullbore::diagnose
