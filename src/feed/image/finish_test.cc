#include "feed/image/finish.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace fullbore::image {
namespace {

constexpr Normalise kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
// Results below the normal range of 16 bits, around it, and above it.
constexpr Normalise kExtreme{{0, 0.5f, 0.5f}, {2e7f, 1e3f, 3e-6f}};

float reference(std::uint8_t value, std::size_t channel, const Normalise& by) {
  // One rounding per operation: volatile keeps the compiler from fusing or reordering them.
  volatile float x = static_cast<float>(value) * (1.0f / 255);
  x = x - by.mean[channel];
  x = x / by.std[channel];
  return x;
}

std::uint32_t bits_of(DType dtype, float value) {
  if (dtype == DType::kFloat32) return std::bit_cast<std::uint32_t>(value);
  if (dtype == DType::kFloat16) return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

std::vector<std::uint8_t> all_values(std::size_t pixels) {
  std::vector<std::uint8_t> rgb(pixels * 3);
  std::iota(rgb.begin(), rgb.end(), std::uint8_t{0});
  return rgb;
}

std::uint32_t stored(const std::vector<std::byte>& out, std::size_t index, std::size_t size) {
  std::uint32_t value = 0;
  std::memcpy(&value, out.data() + index * size, size);
  return value;
}

class FinishTest : public ::testing::TestWithParam<std::tuple<DType, Layout, Normalise>> {};

TEST_P(FinishTest, EveryInstructionSetGivesTheReferenceAndWritesNothingBehind) {
  const auto [dtype, layout, normalise] = GetParam();
  const TransformOptions options{.normalise = normalise, .dtype = dtype, .layout = layout};
  const std::size_t size = bytes_per_value(dtype);
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    for (const std::size_t pixels : {1u, 3u, 7u, 16u, 17u, 256u, 300u}) {
      const auto rgb = all_values(pixels);
      std::vector<std::byte> out(3 * pixels * size + 64, std::byte{0x5a});
      finish(rgb.data(), pixels, options, out.data());
      for (std::size_t i = 0; i < rgb.size(); ++i) {
        const std::size_t channel = i % 3, place = layout == Layout::kNhwc ? i : channel * pixels + i / 3;
        const std::uint32_t expected =
            dtype == DType::kUint8 ? rgb[i] : bits_of(dtype, reference(rgb[i], channel, normalise));
        ASSERT_EQ(stored(out, place, size), expected)
            << hwy::TargetName(left & -left) << ", value " << int{rgb[i]} << " of " << pixels << " pixels";
      }
      for (std::size_t i = 3 * pixels * size; i < out.size(); ++i) ASSERT_EQ(out[i], std::byte{0x5a});
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

INSTANTIATE_TEST_SUITE_P(
    TypesAndLayouts, FinishTest,
    ::testing::Combine(::testing::Values(DType::kUint8, DType::kFloat32, DType::kFloat16, DType::kBfloat16),
                       ::testing::Values(Layout::kNchw, Layout::kNhwc), ::testing::Values(kImageNet, kExtreme)));

}  // namespace
}  // namespace fullbore::image
