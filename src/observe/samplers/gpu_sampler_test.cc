#include "observe/samplers/gpu_sampler.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kDriver = "/proc/driver/nvidia/version";

std::vector<gpu::GpuInfo> two_gpus() {
  return {{"0000:18:00.0", "GPU-aaaa", "NVIDIA H200", 5, 16, false},
          {"0000:2a:00.0", "GPU-bbbb", "NVIDIA H200", 5, 16, false}};
}

struct FakeNvml final : gpu::Nvml {
  const std::vector<gpu::GpuInfo>& devices() const override { return infos; }
  gpu::GpuSample sample(std::size_t device) override {
    gpu::GpuSample sample;
    if (lost) {
      sample.lost = "GPU is lost";
    } else {
      sample.busy = device == 0 ? 0.25 : 0.75;
      sample.compute_pids = std::vector<std::uint32_t>{7, 900};
      sample.power_limit_w = 700;
      sample.throttled_s = throttled_s;
      sample.clock_reasons = reasons;
    }
    return sample;
  }
  std::vector<gpu::GpuInfo> infos = two_gpus();
  bool lost = false;
  std::array<std::optional<double>, gpu::kThrottleReasons> throttled_s;
  std::optional<std::uint64_t> reasons;
};

struct Sampled {
  explicit Sampled(Texts texts) : files(std::move(texts)) {}
  void sample(std::int64_t now_ns = 0) { sampler.sample({.root_pid = 7, .pids = {7, 8}}, now_ns, out); }

  base::InMemoryFiles files;
  RecordedReadings out;
  FakeNvml* nvml = nullptr;
  GpuSampler sampler{files, [this]() -> base::Expected<std::unique_ptr<gpu::Nvml>> {
                       auto made = std::make_unique<FakeNvml>();
                       nvml = made.get();
                       return made;
                     }};
};

TEST(GpuSamplerTest, EachGpuIsLabelledByItsBusId) {
  Sampled gpus(Texts{{kDriver, "580"}});
  gpus.sample();
  EXPECT_THAT(gpus.out.value("gpu.busy", "0000:18:00.0"), Optional(0.25));
  EXPECT_THAT(gpus.out.value("gpu.busy", "0000:2a:00.0"), Optional(0.75));
  EXPECT_THAT(gpus.out.value("gpu.max_link_generation", "0000:18:00.0"), Optional(5));
  EXPECT_FALSE(gpus.out.value("gpu.sm_active", "0000:18:00.0")) << "absent, not zero";
}

TEST(GpuSamplerTest, ProcessesOutsideTheTreeAreOthers) {
  Sampled gpus(Texts{{kDriver, "580"}});
  gpus.sample();
  EXPECT_THAT(gpus.out.value("gpu.other_processes", "0000:18:00.0"), Optional(1));
}

TEST(GpuSamplerTest, OnlyVisibleDevicesAreSampled) {
  Sampled gpus(Texts{{kDriver, "580"}, {"/proc/7/environ", std::string("A=1\0CUDA_VISIBLE_DEVICES=1\0", 27)}});
  gpus.sample();
  EXPECT_FALSE(gpus.out.value("gpu.busy", "0000:18:00.0"));
  EXPECT_THAT(gpus.out.value("gpu.busy", "0000:2a:00.0"), Optional(0.75));
}

TEST(GpuSamplerTest, TheNodeThatAGpuHangsOnIsToldWhereItIsKnown) {
  Sampled gpus(Texts{{kDriver, "580"},
                     {"/sys/bus/pci/devices/0000:18:00.0/numa_node", "1\n"},
                     {"/sys/bus/pci/devices/0000:2a:00.0/numa_node", "-1\n"}});
  gpus.sample();
  EXPECT_THAT(gpus.out.value("gpu.numa_node", "0000:18:00.0"), Optional(1));
  EXPECT_FALSE(gpus.out.value("gpu.numa_node", "0000:2a:00.0")) << "not known is not node 0, nor node -1";
}

TEST(GpuSamplerTest, AMachineWithoutADriverIsAskedNothingAndMissesNothing) {
  Sampled gpus(Texts{});
  gpus.sample();
  EXPECT_EQ(gpus.nvml, nullptr);
  EXPECT_THAT(gpus.out.values(), IsEmpty());
  EXPECT_THAT(gpus.out.all_missing(), IsEmpty());
}

TEST(GpuSamplerTest, TheDriversCountOfThrottledTimeComesBeforeReasonsOfTheMoment) {
  constexpr const char* kGpu = "0000:18:00.0";
  Sampled gpus(Texts{{kDriver, "580"}});
  gpus.sample(1'000'000'000);
  EXPECT_FALSE(gpus.out.value("gpu.throttled_power_cap_s", kGpu)) << "neither is known";
  gpus.nvml->throttled_s[0] = 0.125;
  gpus.nvml->reasons = 0x24;  // power cap and software thermal slowdown
  gpus.out.clear();
  gpus.sample(1'500'000'000);
  EXPECT_THAT(gpus.out.value("gpu.throttled_power_cap_s", kGpu), Optional(0.125));
  EXPECT_THAT(gpus.out.value("gpu.throttled_software_thermal_s", kGpu), Optional(0.5));
  EXPECT_THAT(gpus.out.value("gpu.throttled_power_brake_s", kGpu), Optional(0.0));
  EXPECT_THAT(gpus.out.value("gpu.power_limit_w", kGpu), Optional(700.0));
}

TEST(GpuSamplerTest, ALostGpuIsMissingAndItsSeriesEnd) {
  Sampled gpus(Texts{{kDriver, "580"}});
  gpus.sample();
  gpus.nvml->lost = true;
  gpus.out.clear();
  gpus.sample();
  EXPECT_THAT(gpus.out.values(), IsEmpty());
  EXPECT_THAT(gpus.out.why("gpu"), HasSubstr("answers no more: GPU is lost"));
}

TEST(GpuSamplerTest, ALibraryThatCannotBeOpenedIsMissing) {
  base::InMemoryFiles files(Texts{{kDriver, "580"}});
  RecordedReadings out;
  GpuSampler(files, [] { return base::fail("cannot open libnvidia-ml.so.1"); }).sample({}, 0, out);
  EXPECT_THAT(out.why("gpu"), HasSubstr("libnvidia-ml"));
}

TEST(VisibleDevicesTest, FollowsCudasRules) {
  const auto gpus = two_gpus();
  const auto visible = [&](const std::string& text) { return visible_devices(gpus, &text); };
  EXPECT_THAT(visible_devices(gpus, nullptr), ElementsAre(0, 1));
  EXPECT_THAT(visible("1,0"), ElementsAre(1, 0));
  EXPECT_THAT(visible(""), IsEmpty());
  EXPECT_THAT(visible("-1"), IsEmpty());
  EXPECT_THAT(visible("0,9,1"), ElementsAre(0)) << "what follows an unknown one is invisible";
  EXPECT_THAT(visible("GPU-bb"), ElementsAre(1));
}

}  // namespace
}  // namespace fullbore::observe
