#include "diagnose/rank_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;

std::vector<RankDevice> four_alike() {
  std::vector<RankDevice> devices;
  for (int rank = 0; rank < 4; ++rank) {
    RankDevice device;
    device.rank = rank;
    device.pci_bus_id = "0000:" + std::to_string(rank) + "8:00.0";
    device.kernels = 500;
    device.compute_ms = 40;
    device.gb_per_s = 50;
    device.clock_mhz = 1980;
    device.link_generation = 5;
    device.link_width = 16;
    devices.push_back(device);
  }
  return devices;
}

TEST(SlowerDevice, IsNoneAmongEquals) {
  EXPECT_FALSE(slower_device(four_alike()));
  EXPECT_FALSE(slower_device({}));
  EXPECT_FALSE(slower_device({four_alike().front()})) << "nothing to compare with";
}

TEST(SlowerDevice, IsTheOneWhoseKernelsTakeLonger) {
  auto devices = four_alike();
  devices[2].compute_ms = 52;
  devices[2].clock_mhz = 1400;
  const auto said = slower_device(devices);
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr("rank 2: the same kernels take 52 ms per step on 0000:28:00.0, 40 ms"));
  EXPECT_THAT(*said, HasSubstr("its clock is 1400 MHz, theirs 1980"));
}

TEST(SlowerDevice, IsNotTheOneThatHasOtherWork) {
  auto devices = four_alike();
  devices[2].compute_ms = 80;
  devices[2].kernels = 900;
  EXPECT_FALSE(slower_device(devices));
}

TEST(SlowerDevice, IsTheOneWhoseLinkIsNarrow) {
  auto devices = four_alike();
  devices[1].gb_per_s = 12;
  devices[1].link_width = 4;
  const auto said = slower_device(devices);
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr("rank 1: batches are copied to 0000:18:00.0 at 12.0 GB/s"));
  EXPECT_THAT(*said, HasSubstr("generation 5 with 4 lanes, theirs 5 with 16"));
}

TEST(SlowerDevice, SaysNothingOfRatesThatAreNotKnown) {
  auto devices = four_alike();
  devices[1].gb_per_s = 12;
  devices[3].gb_per_s = std::nullopt;
  EXPECT_FALSE(slower_device(devices));
}

// Two ranks of 50 ms steps with ten kernels in each, those of rank 1 so long.
record::Run two_ranks(double kernel_ms_of_1) {
  testing::RunBuilder builder;
  for (const int number : {0, 1}) {
    testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
    simulation.device = "cuda:0";
    simulation.rank = number;
    simulate_into(builder, simulation);
    record::RankRecords& rank = builder.rank(number);
    const std::uint32_t pid = rank.models.front().pid;
    const double first = static_cast<double>(rank.nexts[60].record.begin_ns) / 1e6;
    testing::add_window(rank, first, first + 500);
    for (int i = 0; i < 100; ++i) {
      const double begin = first + 5 * i;
      testing::add_kernel(rank, begin, begin + (number == 0 ? 3 : kernel_ms_of_1));
    }
    for (auto& window : rank.trace_windows) window.pid = window.tid = pid;
    for (auto& kernel : rank.kernels) kernel.pid = kernel.tid = pid;
    wire::GpuDeviceRecord device{};
    device.pci_bus_id = builder.name(number == 0 ? "0000:18:00.0" : "0000:2a:00.0");
    device.name = builder.name("NVIDIA H200");
    rank.gpu_devices.push_back({device, pid, pid});
  }
  return builder.take();
}

TEST(RankDevices, EachRankIsNamedWithItsGpu) {
  const Diagnosis d = diagnose(two_ranks(3));
  ASSERT_TRUE(d.facts.contains("gpu rank 0 (pid 100)") && d.facts.contains("gpu rank 1 (pid 1100)"));
  EXPECT_THAT(d.facts.at("gpu rank 0 (pid 100)"), HasSubstr("0000:18:00.0 NVIDIA H200, 10 kernels in 30 ms per step"));
  EXPECT_THAT(d.facts.at("gpu rank 1 (pid 1100)"), HasSubstr("0000:2a:00.0"));
  EXPECT_FALSE(d.facts.contains("slower gpu"));
}

TEST(RankDevices, TheSlowOneIsSaid) {
  const Diagnosis d = diagnose(two_ranks(4));
  ASSERT_TRUE(d.facts.contains("slower gpu"));
  EXPECT_THAT(d.facts.at("slower gpu"), HasSubstr("rank 1: the same kernels take 40 ms per step on 0000:2a:00.0"));
}

TEST(RankDevices, TheDriversFiguresAreThoseOfTheJudgedRanksGpu) {
  record::Run run = two_ranks(4);
  for (const auto& [bus, watts] : {std::pair{"0000:2a:00.0", 500.0}, std::pair{"0000:18:00.0", 300.0}})
    run.series.push_back({"gpu.power_w", bus, "W", wire::SeriesKind::kGauge, {run.info.start_ns}, {watts}});
  const Diagnosis d = diagnose(run);
  ASSERT_EQ(d.facts.at("judged"), "rank 0 (pid 100)") << "its GPU idles more";
  EXPECT_THAT(d.system, ::testing::Contains(::testing::Pair("gpu.power_w", ::testing::Optional(300.0))));
}

TEST(RankDevices, RanksThatWereNotTracedHaveNoRow) {
  record::Run run = two_ranks(4);
  for (record::RankRecords& rank : run.ranks) rank.trace_windows.clear();
  const Diagnosis d = diagnose(run);
  EXPECT_FALSE(d.facts.contains("gpu rank 0 (pid 100)"));
  EXPECT_FALSE(d.facts.contains("slower gpu"));
}

}  // namespace
}  // namespace fullbore::diagnose
