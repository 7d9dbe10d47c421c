// The causes about copies to the device: which is named depends on the memory, on the loop's wait, and on what runs
// beside the copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/testing/gpu_records.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::ms;

struct Copying {
  double copy_ms = 20;
  wire::MemoryKind memory = wire::MemoryKind::kPinned;
  bool waited = false;
  bool hidden = false;  // kernels run meanwhile
  bool traced = true;
};

// Steps of 50 ms; in a window of ten, each copies first and then runs a kernel.
record::Run copying(const Copying& copying) {
  testing::RunBuilder builder;
  testing::Simulation simulation{.workers = 2, .body_ms = 50, .sample_ms = 0.4};
  simulation.device = "cuda:0";
  simulate_into(builder, simulation);
  if (!copying.traced) return builder.take();
  record::RankRecords& rank = builder.rank();
  const double first = static_cast<double>(rank.nexts[60].record.begin_ns) / 1e6;
  testing::add_window(rank, first, first + 500);
  for (double begin = first; begin < first + 500; begin += 50) {
    const double end = begin + copying.copy_ms;
    testing::add_copy(rank, begin + 1, end, copying.memory, 100'000'000);
    if (copying.waited) testing::add_wait(rank, begin, end + 0.02);
    testing::add_kernel(rank, copying.hidden ? begin : end + 0.1, begin + 49.9);
    testing::add_kernel(rank, begin, begin + 1);
  }
  return builder.take();
}

TEST(Copies, OutOfPageableMemoryAreNamedWithTheSetting) {
  const Diagnosis d = diagnose(copying({.memory = wire::MemoryKind::kPageable, .waited = true}));
  EXPECT_EQ(d.verdict.cause, "pageable_copy");
  EXPECT_NEAR(d.causes[0].share, 0.38, 0.02);
  EXPECT_NEAR(*d.causes[0].gain.max, 1 / 0.62, 0.05);
  ASSERT_EQ(d.causes[0].fix.settings.size(), 1u);
  EXPECT_EQ(d.causes[0].fix.settings[0].name, "pin_memory");
}

TEST(Copies, ThatTheLoopWaitsForAreBlocking) {
  const Diagnosis d = diagnose(copying({.waited = true}));
  EXPECT_EQ(d.verdict.cause, "blocking_copy");
  EXPECT_THAT(d.verdict.summary, HasSubstr("stands still"));
}

TEST(Copies, BetweenTheKernelsAreUnoverlapped) {
  EXPECT_EQ(diagnose(copying({})).verdict.cause, "unoverlapped_copy");
}

TEST(Copies, ThatKernelsHideAreNotNamed) {
  for (const auto memory : {wire::MemoryKind::kPinned, wire::MemoryKind::kPageable}) {
    const Diagnosis d = diagnose(copying({.memory = memory, .waited = true, .hidden = true}));
    EXPECT_EQ(d.verdict.cause, "compute_bound");
    EXPECT_THAT(d.verdict.summary, HasSubstr("The GPU runs kernels"));
  }
}

TEST(Copies, ThatAreShortAreNotNamed) {
  EXPECT_EQ(diagnose(copying({.copy_ms = 2, .waited = true})).verdict.cause, "compute_bound");
}

TEST(Copies, AreNotSpokenOfWhereNothingWasTraced) {
  const Diagnosis d = diagnose(copying({.traced = false}));
  EXPECT_EQ(d.verdict.cause, "compute_bound");
  EXPECT_FALSE(d.copies);
  EXPECT_THAT(d.missing, ::testing::Contains(::testing::Field(&Missing::signal, "gpu")));
}

TEST(Copies, OfAStepAreReported) {
  const Diagnosis d = diagnose(copying({}));
  ASSERT_TRUE(d.copies && d.gpu);
  EXPECT_NEAR(d.copies->h2d_ms_per_batch, 19, 1.5);
  EXPECT_NEAR(*d.copies->pinned.gb_per_s, 100e6 / 19e6, 0.1);
  EXPECT_FALSE(d.copies->pageable.gb_per_s);
  EXPECT_NEAR(d.gpu->busy, 0.62, 0.02);
}

// The largest tensor of a batch, as the hook tells of it.
void add_tensor(record::Run& run, const std::string& dtype, std::vector<std::int64_t> shape, std::int64_t bytes) {
  record::RankRecords& rank = run.ranks[0];
  wire::BatchTensorRecord tensor{};
  tensor.loader = rank.loaders[0].record.loader;
  tensor.bytes = bytes;
  tensor.dimensions = static_cast<std::uint32_t>(shape.size());
  shape.resize(4, wire::kUnknown);
  std::ranges::copy(shape, tensor.shape);
  tensor.dtype = wire::name_id(dtype.data(), dtype.size());
  run.names[tensor.dtype] = dtype;
  rank.batch_tensors.push_back({tensor, testing::kTrainerPid, testing::kTrainerPid});
}

TEST(WideDtype, IsNamedFirstWhereNarrowerBytesGainMoreThanHiding) {
  // 35 of 50 ms are copies: beside the 15 ms of kernels only these fit, and a quarter of the bytes takes 9.
  record::Run run = copying({.copy_ms = 36});
  add_tensor(run, "torch.float32", {128, 3, 224, 224}, 100'000'000);
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict.cause, "wide_dtype") << d.verdict.summary;
  EXPECT_THAT(d.verdict.summary, HasSubstr("as uint8"));
  EXPECT_NEAR(d.causes[0].share, 0.7 * 0.75, 0.03);
  EXPECT_THAT(d.causes, ::testing::Contains(::testing::Field(&Cause::cause, "unoverlapped_copy")));
  EXPECT_EQ(d.loader.dtype, "torch.float32");
}

TEST(WideDtype, IsNotSaidOfFloatsThatAreNoPicturesNorOfBytes) {
  for (const auto& [dtype, shape] : {std::pair<std::string, std::vector<std::int64_t>>{"torch.float32", {128, 4096}},
                                     {"torch.uint8", {128, 3, 224, 224}}}) {
    record::Run run = copying({.copy_ms = 20});
    add_tensor(run, dtype, shape, 100'000'000);
    EXPECT_EQ(diagnose(run).verdict.cause, "unoverlapped_copy") << dtype;
  }
}

TEST(WideDtype, KnowsDoublesAndLongIndices) {
  for (const auto& [dtype, narrow] : {std::pair{"torch.float64", "as float32"}, {"torch.int64", "as int32"}}) {
    record::Run run = copying({.copy_ms = 45});
    add_tensor(run, dtype, {128, 4096}, 100'000'000);
    const Diagnosis d = diagnose(run);
    EXPECT_EQ(d.verdict.cause, "wide_dtype") << dtype;
    EXPECT_THAT(d.verdict.summary, HasSubstr(narrow));
  }
}

TEST(LinkSaturated, IsACopyThatIsLongerThanTheKernels) {
  const Diagnosis d = diagnose(copying({.copy_ms = 45}));
  EXPECT_EQ(d.verdict.cause, "link_saturated") << d.verdict.summary;
}

TEST(LinkDegraded, IsALinkBelowWhatDeviceAndSlotCanDo) {
  record::Run run = copying({.copy_ms = 45});
  const std::string bus = "0000:18:00.0";
  wire::GpuDeviceRecord device{};
  device.pci_bus_id = wire::name_id(bus.data(), bus.size());
  run.names[device.pci_bus_id] = bus;
  run.ranks[0].gpu_devices.push_back({device, testing::kTrainerPid, testing::kTrainerPid});
  const auto gauge = [&](const std::string& metric, double value) {
    run.series.push_back({metric, bus, "", wire::SeriesKind::kGauge, {run.info.start_ns}, {value}});
  };
  gauge("gpu.link_generation", 5);
  gauge("gpu.max_link_generation", 5);
  gauge("gpu.link_width", 4);
  gauge("gpu.max_link_width", 16);
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict.cause, "link_degraded") << d.verdict.summary;
  EXPECT_THAT(d.verdict.summary, HasSubstr("with 4 lanes where generation 5 with 16"));
  for (auto& series : run.series) {
    if (series.metric == "gpu.link_width") series.value = {16};
  }
  EXPECT_EQ(diagnose(run).verdict.cause, "link_saturated") << "as fast as it can";
}

TEST(SmallCopies, ThatFollowEachOtherAreOneCause) {
  record::Run run = copying({.copy_ms = 1});
  record::RankRecords& rank = run.ranks[0];
  rank.copies.clear();
  rank.kernels.clear();
  const double first = static_cast<double>(rank.trace_windows[0].record.begin_ns) / 1e6;
  for (double begin = first; begin < first + 500; begin += 50) {
    testing::add_kernel(rank, begin, begin + 0.1);
    for (int i = 0; i < 100; ++i) {
      const double at = begin + 1 + 0.15 * i;
      testing::add_copy(rank, at, at + 0.002, wire::MemoryKind::kPageable, 4'000);
    }
    testing::add_kernel(rank, begin + 16, begin + 49.9);
  }
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict.cause, "small_copies") << d.verdict.summary;
  EXPECT_NEAR(d.causes[0].share, 0.29, 0.02);
  EXPECT_THAT(d.verdict.summary, HasSubstr("100 pieces of 4.0 kB"));
}

TEST(GpuShared, IsADeviceThatIsBusierThanThisJob) {
  record::Run run = copying({.copy_ms = 20});
  const std::string bus = "0000:18:00.0";
  wire::GpuDeviceRecord device{};
  device.pci_bus_id = wire::name_id(bus.data(), bus.size());
  run.names[device.pci_bus_id] = bus;
  run.ranks[0].gpu_devices.push_back({device, testing::kTrainerPid, testing::kTrainerPid});
  const std::int64_t end_ns = run.ranks[0].nexts.back().record.end_ns;
  const auto gauge = [&](const std::string& metric, double value) {
    run.series.push_back({metric, bus, "", wire::SeriesKind::kGauge, {run.info.start_ns, end_ns}, {value, value}});
  };
  gauge("gpu.busy", 1.0);
  gauge("gpu.other_processes", 1);
  EXPECT_THAT(diagnose(run).causes, ::testing::Contains(::testing::Field(&Cause::cause, "gpu_shared")));
  run.series.back().value = {0, 0};
  EXPECT_THAT(diagnose(run).causes, ::testing::Not(::testing::Contains(::testing::Field(&Cause::cause, "gpu_shared"))))
      << "alone on it, the driver's coarse figure proves nothing";
}

TEST(GpuThrottled, IsADeviceThatIsTooHotWhileItWorks) {
  testing::RunBuilder builder;
  builder.run = copying({.copy_ms = 5});
  record::Run& run = builder.run;
  const std::string bus = "0000:18:00.0";
  wire::GpuDeviceRecord device{};
  device.pci_bus_id = builder.name(bus);
  run.ranks[0].gpu_devices.push_back({device, testing::kTrainerPid, testing::kTrainerPid});
  const std::int64_t end_ns = run.ranks[0].nexts.back().record.end_ns;
  builder.counter("gpu.throttled_hardware_thermal_s", 0.8, end_ns, bus);
  builder.counter("gpu.throttled_power_cap_s", 1.0, end_ns, bus);
  run.series.push_back(
      {"gpu.sm_clock_mhz", bus, "MHz", wire::SeriesKind::kGauge, {run.info.start_ns, end_ns}, {990, 990}});
  run.series.push_back({"gpu.max_sm_clock_mhz", bus, "MHz", wire::SeriesKind::kGauge, {run.info.start_ns}, {1980}});
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict.cause, "gpu_throttled") << d.verdict.summary;
  EXPECT_NEAR(d.causes[0].share, 0.9 * 0.8 * 0.5, 0.03);
  EXPECT_THAT(d.verdict.summary, HasSubstr("too hot"));
  std::erase_if(run.series, [](const record::Series& s) { return s.metric == "gpu.throttled_hardware_thermal_s"; });
  EXPECT_NE(diagnose(run).verdict.cause, "gpu_throttled") << "a power cap is how it works under full load";
}

}  // namespace
}  // namespace fullbore::diagnose
