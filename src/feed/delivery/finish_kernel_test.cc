#include "feed/delivery/finish_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "feed/image/finish.h"
#include "gpu/kernels/finish_ptx.h"
#include "gpu/testing/finish_on_host.h"

namespace fullbore::feed {
namespace {

using gpu::testing::FakeCuda;
using image::DType;
using image::Layout;

struct alignas(64) Line {
  std::byte bytes[64]{};
};

// Memory as an allocator gives it, with some behind that nobody may write.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes), lines_(bytes / 64 + 2) {}

  std::byte* data() { return lines_.front().bytes; }
  gpu::DeviceAddress address() { return reinterpret_cast<gpu::DeviceAddress>(data()); }
  std::vector<std::byte> all() { return {data(), data() + bytes_}; }
  std::vector<std::byte> behind() { return {data() + bytes_, data() + lines_.size() * 64}; }

 private:
  std::size_t bytes_;
  std::vector<Line> lines_;
};

constexpr image::Normalise kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

class FinishKernelTest : public ::testing::TestWithParam<std::tuple<DType, Layout, std::size_t>> {};

TEST_P(FinishKernelTest, ItsBytesAreThoseOfTheProcessor) {
  const auto [dtype, layout, pixels] = GetParam();
  const image::TransformOptions transform{.normalise = kImageNet, .dtype = dtype, .layout = layout};
  constexpr std::size_t kSamples = 3;
  const std::size_t sample_bytes = 3 * pixels * image::bytes_per_value(dtype);
  FakeCuda cuda;
  cuda.add_kernel(gpu::kFinishName, gpu::testing::finish_on_host());
  const auto device = *gpu::Device::open(cuda.api(), 0);
  const gpu::StreamHandle stream = cuda.make_stream();
  DeviceMemory in(kSamples * pixels * 3), out(kSamples * sample_bytes), table(sizeof(FinishTable));
  for (std::size_t i = 0; i < kSamples * pixels * 3; ++i) in.data()[i] = static_cast<std::byte>(i * 7 + i / 256);

  const auto kernel = FinishKernel::load(device, "ptx", transform, table.address(), stream);
  ASSERT_TRUE(kernel) << kernel.error().message();
  ASSERT_TRUE(kernel->launch(in.address(), out.address(), kSamples, pixels, stream));
  cuda.run_until_idle();

  std::vector<std::byte> expected(kSamples * sample_bytes);
  for (std::size_t i = 0; i < kSamples; ++i)
    image::finish(reinterpret_cast<const std::uint8_t*>(in.data()) + i * pixels * 3, pixels, transform,
                  expected.data() + i * sample_bytes);
  EXPECT_EQ(out.all(), expected);
  EXPECT_THAT(out.behind(), ::testing::Each(std::byte{0}));
}

INSTANTIATE_TEST_SUITE_P(
    TypesLayoutsAndSizes, FinishKernelTest,
    ::testing::Combine(::testing::Values(DType::kUint8, DType::kFloat32, DType::kFloat16, DType::kBfloat16),
                       ::testing::Values(Layout::kNchw, Layout::kNhwc), ::testing::Values(1u, 15u, 16u, 1000u)));

TEST(FinishKernel, PixelsAsTheyAreDecodedNeedNone) {
  image::TransformOptions transform;
  transform.dtype = DType::kUint8;
  transform.layout = Layout::kNhwc;
  EXPECT_FALSE(FinishKernel::is_needed(transform));
  transform.layout = Layout::kNchw;
  EXPECT_TRUE(FinishKernel::is_needed(transform));
}

TEST(FinishKernel, ABuildWithoutKernelsSaysWhatItLacked) {
  FakeCuda cuda;
  const auto kernel = FinishKernel::load(*gpu::Device::open(cuda.api(), 0), "", {}, 0, cuda.make_stream());
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message(), ::testing::HasSubstr("clang-19"));
}

}  // namespace
}  // namespace fullbore::feed
