// The real table over a fake libnvidia-ml.
#include "gpu/nvml.h"

#include <gmock/gmock.h>

#include "base/dynamic_library.h"
#include "gpu/testing/fake_nvml.h"

namespace fullbore::gpu {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

constexpr int kGpuIsLost = 15;
constexpr int kNotSupported = 3;

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    auto library = base::DynamicLibrary::open({FULLBORE_FAKE_NVML});
    ASSERT_TRUE(library) << library.error().message();
    library_.emplace(std::move(*library));
    FakeNvml* (*get)() = nullptr;
    ASSERT_TRUE(library_->require(get, "fullbore_fake_nvml"));
    fake_ = get();
    *fake_ = {};
  }
  static base::Expected<std::unique_ptr<Nvml>> open() { return Nvml::open({FULLBORE_FAKE_NVML}); }

  static std::optional<double> throttled(const GpuSample& sample, ThrottleReason reason) {
    return sample.throttled_s[static_cast<std::size_t>(reason)];
  }

  std::optional<base::DynamicLibrary> library_;
  FakeNvml* fake_ = nullptr;
};

TEST_F(NvmlTest, DevicesHaveTheBusIdThatCudaAndTheKernelWrite) {
  const auto nvml = open();
  ASSERT_TRUE(nvml) << nvml.error().message();
  ASSERT_EQ((*nvml)->devices().size(), 1u);
  EXPECT_EQ((*nvml)->devices()[0].pci_bus_id, "0000:af:00.0");
  EXPECT_EQ((*nvml)->devices()[0].uuid, "GPU-1234");
}

TEST_F(NvmlTest, ValuesAreSharesBytesAndWatts) {
  fake_->busy_percent = 40;
  const GpuSample sample = (*open())->sample(0);
  EXPECT_THAT(sample.busy, Optional(0.4));
  EXPECT_THAT(sample.memory_used_bytes, Optional(400.0));
  EXPECT_THAT(sample.power_w, Optional(250.0));
  EXPECT_THAT(sample.power_limit_w, Optional(700.0));
  EXPECT_THAT(sample.sm_clock_mhz, Optional(1200u));
  EXPECT_THAT(sample.compute_pids, Optional(ElementsAre(41u, 42u)));
}

TEST_F(NvmlTest, WhatADriverLacksIsAbsent) {
  const GpuSample sample = (*open())->sample(0);
  EXPECT_FALSE(sample.link_generation);
  EXPECT_FALSE(sample.link_width);
}

TEST_F(NvmlTest, PerformanceMetricsNeedTwoSamplesAndRefusedOnesAreAbsent) {
  const auto nvml = std::move(*open());
  EXPECT_FALSE(nvml->sample(0).sm_active);
  const GpuSample second = nvml->sample(0);
  EXPECT_THAT(second.sm_active, Optional(0.5));
  EXPECT_THAT(second.pcie_rx_bytes_per_s, Optional(50.0 * 1024 * 1024));
  EXPECT_FALSE(second.dram_busy);
}

TEST_F(NvmlTest, AGpuWithoutPerformanceMonitorStillGivesTheRest) {
  fake_->gpm = false;
  const auto nvml = std::move(*open());
  nvml->sample(0);
  EXPECT_FALSE(nvml->sample(0).sm_active);
  EXPECT_TRUE(nvml->sample(0).busy);
}

TEST_F(NvmlTest, TheReplayCounterMayWrap) {
  fake_->replays = 0xffff'fffeu;
  const auto nvml = std::move(*open());
  EXPECT_THAT(nvml->sample(0).replays, Optional(0u));
  fake_->replays = 3;
  EXPECT_THAT(nvml->sample(0).replays, Optional(5u));
}

TEST_F(NvmlTest, ThrottledTimeIsCountedFromTheFirstSampleAndMayWrap) {
  fake_->power_cap_ns = 7'000'000'000;
  fake_->brake_ns = 0xffff'fc17u;
  const auto nvml = std::move(*open());
  EXPECT_THAT(throttled(nvml->sample(0), ThrottleReason::kPowerCap), Optional(0.0));
  fake_->power_cap_ns = 9'500'000'000;
  fake_->brake_ns = 1'000;
  const GpuSample second = nvml->sample(0);
  EXPECT_THAT(throttled(second, ThrottleReason::kPowerCap), Optional(2.5));
  EXPECT_THAT(throttled(second, ThrottleReason::kPowerBrake), Optional(DoubleNear(2.001e-6, 1e-12)));
  EXPECT_FALSE(throttled(second, ThrottleReason::kHardwareThermal)) << "this GPU has no such counter";
  fake_->power_cap_ns = 0;
  EXPECT_THAT(throttled(nvml->sample(0), ThrottleReason::kPowerCap), Optional(2.5)) << "it was reset";
}

TEST_F(NvmlTest, WithoutCountersTheReasonsOfTheMomentAreThere) {
  fake_->fields = false;
  fake_->clock_reasons = 0x24;
  const GpuSample sample = (*open())->sample(0);
  EXPECT_FALSE(throttled(sample, ThrottleReason::kPowerCap));
  EXPECT_THAT(sample.clock_reasons, Optional(0x24u));
}

TEST_F(NvmlTest, ALostGpuSaysSoAndGivesNoZeros) {
  const auto nvml = std::move(*open());
  fake_->result = kGpuIsLost;
  const GpuSample sample = nvml->sample(0);
  EXPECT_EQ(sample.lost, "error of a test");
  EXPECT_FALSE(sample.busy);
  EXPECT_FALSE(sample.memory_used_bytes);
}

TEST_F(NvmlTest, WhereEveryCallIsRefusedNothingIsGiven) {
  const auto nvml = std::move(*open());
  fake_->result = kNotSupported;
  const GpuSample sample = nvml->sample(0);
  EXPECT_EQ(sample.lost, "");
  EXPECT_FALSE(sample.busy);
  EXPECT_FALSE(sample.compute_pids);
}

TEST_F(NvmlTest, ALibraryThatDoesNotStartSaysWhy) {
  fake_->init_result = 9;
  const auto nvml = open();
  ASSERT_FALSE(nvml);
  EXPECT_THAT(nvml.error().message(), HasSubstr("does not start: error of a test"));
}

}  // namespace
}  // namespace fullbore::gpu
