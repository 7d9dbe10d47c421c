// Over the fake driver, whose clock goes on by a millisecond with each piece of work.
#include "gpu/ceilings.h"

#include <gmock/gmock.h>

#include "gpu/device.h"
#include "gpu/testing/fake_cuda.h"

namespace fullbore::gpu {
namespace {

using ::testing::DoubleEq;
using testing::FakeCuda;
using ::testing::HasSubstr;

constexpr std::size_t kMost = 1 << 20;

TEST(CeilingsTest, ARateIsThatOfTheBestSize) {
  FakeCuda cuda;
  const auto rates = measure_ceilings(*Device::open(cuda.api(), 0), kMost);
  ASSERT_TRUE(rates) << rates.error().message();
  // From the event before the copy to the one after it are two pieces of work; the largest copy is the best.
  constexpr double kLargest = kMost / 2.0 / 1e6;
  EXPECT_THAT(rates->pinned_h2d_gb_per_s, DoubleEq(kLargest));
  EXPECT_THAT(rates->pageable_h2d_gb_per_s, DoubleEq(kLargest));
  EXPECT_THAT(rates->pinned_d2h_gb_per_s, DoubleEq(kLargest));
}

TEST(CeilingsTest, EachDeviceIsNamedByItsPlaceAndNothingIsKept) {
  FakeCuda cuda;
  const auto all = measure_all_ceilings(cuda.api(), kMost);
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].pci_bus_id, "0000:af:00.0");
  EXPECT_EQ((*all)[1].pci_bus_id, "0000:b0:00.0");
  EXPECT_EQ((*all)[0].name, "Fake GPU");
  EXPECT_EQ(cuda.pinned_bytes(), 0u);
  EXPECT_EQ(cuda.calls("device_free"), 2);
}

TEST(CeilingsTest, AFullDeviceIsNamed) {
  FakeCuda cuda;
  cuda.fail("device_alloc", CUDA_ERROR_OUT_OF_MEMORY);
  const auto all = measure_all_ceilings(cuda.api(), kMost);
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message(), HasSubstr("cannot take 1 MiB of device memory: CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST(CeilingsTest, ACopyThatFailsIsAnErrorAndNotARate) {
  FakeCuda cuda;
  cuda.fail("copy_to_host_async", CUDA_ERROR_UNKNOWN, 3);
  EXPECT_FALSE(measure_all_ceilings(cuda.api(), kMost));
}

TEST(CeilingsTest, AProcessThatSeesNoDeviceIsToldSo) {
  FakeCuda cuda({.devices = 0});
  const auto all = measure_all_ceilings(cuda.api(), kMost);
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message(), HasSubstr("sees no CUDA device"));
}

}  // namespace
}  // namespace fullbore::gpu
