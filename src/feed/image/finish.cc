#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/image/finish.cc"
#include "feed/image/finish.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <array>
#include <cstring>

// This file is compiled without contraction: one rounding for product and difference would be another result on
// processors that have it.
HWY_BEFORE_NAMESPACE();
namespace fullbore::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, DF>;
using D16 = hn::Rebind<std::uint16_t, DF>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;

HWY_INLINE VF normalised(hn::Vec<D8> bytes, float scale, float mean, float std) {
  const VF value = hn::ConvertTo(DF(), hn::PromoteTo(DI(), bytes));
  return hn::Div(hn::Sub(hn::Mul(value, hn::Set(DF(), scale)), hn::Set(DF(), mean)), hn::Set(DF(), std));
}

// How a type is stored: bits of VF as the unsigned type of its size.
struct AsFloat32 {
  using D = DF;
  static HWY_INLINE VF convert(VF value) { return value; }
};
struct AsBfloat16 {
  using D = D16;
  static HWY_INLINE hn::Vec<D16> convert(VF value) {
    const auto bits = hn::BitCast(DU(), value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(DU(), 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(DU(), 0x7fff)));
    return hn::DemoteTo(D16(), hn::BitCast(DI(), rounded));
  }
};
// By hand: Highway's conversion cuts instead of rounding where the processor has none (seen with SSE4).
struct AsFloat16 {
  using D = D16;
  static HWY_INLINE hn::Vec<D16> convert(VF value) {
    const auto magnitude = hn::And(hn::BitCast(DU(), value), hn::Set(DU(), 0x7fffffff));
    const auto sign = hn::ShiftLeft<15>(hn::ShiftRight<31>(hn::BitCast(DU(), value)));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(DU(), 1));
    // The exponent's bias goes from 127 to 15, the mantissa from 23 bits to 10.
    const auto rebias = hn::Set(DU(), static_cast<std::uint32_t>((15 - 127) * (1 << 23) + 0xfff));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, rebias), odd));
    // Below 2^-14: the addition of 0.5 rounds to multiples of 2^-24 and leaves them in the lowest bits.
    const VF shifted = hn::Add(hn::BitCast(DF(), magnitude), hn::Set(DF(), 0.5f));
    const auto subnormal = hn::Sub(hn::BitCast(DU(), shifted), hn::Set(DU(), 126u << 23));
    const auto small = hn::Lt(hn::BitCast(DI(), magnitude), hn::Set(DI(), 113 << 23));
    const auto large = hn::Gt(hn::BitCast(DI(), magnitude), hn::Set(DI(), (143 << 23) - 1));  // 2^16: infinity
    const auto finite = hn::IfThenElse(hn::RebindMask(DU(), small), subnormal, normal);
    const auto half = hn::IfThenElse(hn::RebindMask(DU(), large), hn::Set(DU(), 0x7c00), finite);
    return hn::DemoteTo(D16(), hn::BitCast(DI(), hn::Or(half, sign)));
  }
};

// Pixels [0, count), a whole number of vectors.
template <typename As>
HWY_INLINE void convert_vectors(const std::uint8_t* rgb, std::size_t count, const Normalise& by,
                                hn::TFromD<typename As::D>* planes[3], hn::TFromD<typename As::D>* pixels) {
  const typename As::D d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(DF())) {
    hn::Vec<D8> red, green, blue;
    hn::LoadInterleaved3(D8(), rgb + 3 * i, red, green, blue);
    const auto r = As::convert(normalised(red, by.scale, by.mean[0], by.std[0]));
    const auto g = As::convert(normalised(green, by.scale, by.mean[1], by.std[1]));
    const auto b = As::convert(normalised(blue, by.scale, by.mean[2], by.std[2]));
    if (pixels != nullptr) {
      hn::StoreInterleaved3(r, g, b, d, pixels + 3 * i);
    } else {
      hn::StoreU(r, d, planes[0] + i);
      hn::StoreU(g, d, planes[1] + i);
      hn::StoreU(b, d, planes[2] + i);
    }
  }
}

template <typename As>
HWY_INLINE void convert(const std::uint8_t* rgb, std::size_t count, const Normalise& by, Layout layout,
                        std::byte* memory) {
  using T = hn::TFromD<typename As::D>;
  const std::size_t lanes = hn::Lanes(DF()), whole = count / lanes * lanes, rest = count - whole;
  T* out = reinterpret_cast<T*>(memory);
  T* planes[3] = {out, out + count, out + 2 * count};
  T* const pixels = layout == Layout::kNhwc ? out : nullptr;
  convert_vectors<As>(rgb, whole, by, planes, pixels);
  if (rest == 0) return;
  // The last pixels go through a vector of their own, so that nothing is read or written behind them.
  constexpr std::size_t kMost = HWY_MAX_BYTES / sizeof(float);
  std::uint8_t last[3 * kMost] = {};
  T made[3 * kMost];
  std::memcpy(last, rgb + 3 * whole, 3 * rest);
  T* made_planes[3] = {made, made + kMost, made + 2 * kMost};
  convert_vectors<As>(last, lanes, by, made_planes, pixels != nullptr ? made : nullptr);
  if (pixels != nullptr) {
    std::memcpy(pixels + 3 * whole, made, 3 * rest * sizeof(T));
  } else {
    for (int c = 0; c < 3; ++c) std::memcpy(planes[c] + whole, made_planes[c], rest * sizeof(T));
  }
}

void to_float32(const std::uint8_t* rgb, std::size_t count, const Normalise& by, Layout layout, std::byte* out) {
  convert<AsFloat32>(rgb, count, by, layout, out);
}
void to_float16(const std::uint8_t* rgb, std::size_t count, const Normalise& by, Layout layout, std::byte* out) {
  convert<AsFloat16>(rgb, count, by, layout, out);
}
void to_bfloat16(const std::uint8_t* rgb, std::size_t count, const Normalise& by, Layout layout, std::byte* out) {
  convert<AsBfloat16>(rgb, count, by, layout, out);
}

template <typename As>
HWY_INLINE void store(const float* values, std::size_t count, std::byte* memory) {
  using T = hn::TFromD<typename As::D>;
  const typename As::D d;
  const std::size_t lanes = hn::Lanes(DF()), whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    hn::StoreU(As::convert(hn::LoadU(DF(), values + i)), d, reinterpret_cast<T*>(memory) + i);
  if (whole == count) return;
  float last[HWY_MAX_BYTES / sizeof(float)] = {};
  T made[HWY_MAX_BYTES / sizeof(float)];
  std::memcpy(last, values + whole, (count - whole) * sizeof(float));
  hn::StoreU(As::convert(hn::LoadU(DF(), last)), d, made);
  std::memcpy(memory + whole * sizeof(T), made, (count - whole) * sizeof(T));
}

void store_float16(const float* values, std::size_t count, std::byte* out) {
  store<AsFloat16>(values, count, out);
}
void store_bfloat16(const float* values, std::size_t count, std::byte* out) {
  store<AsBfloat16>(values, count, out);
}

void to_planes(const std::uint8_t* rgb, std::size_t count, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, rgb + 3 * i, red, green, blue);
    hn::StoreU(red, d, out + i);
    hn::StoreU(green, d, out + count + i);
    hn::StoreU(blue, d, out + 2 * count + i);
  }
  for (; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) out[c * count + i] = rgb[3 * i + c];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::image {

HWY_EXPORT(to_float32);
HWY_EXPORT(to_float16);
HWY_EXPORT(to_bfloat16);
HWY_EXPORT(store_float16);
HWY_EXPORT(store_bfloat16);
HWY_EXPORT(to_planes);

std::size_t bytes_per_value(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return 1;
    case DType::kFloat32:
      return 4;
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
  }
  return 0;
}

void finish(const std::uint8_t* rgb, std::size_t count, const TransformOptions& options, std::byte* out) {
  const Normalise& by = options.normalise;
  switch (options.dtype) {
    case DType::kUint8:
      if (options.layout == Layout::kNhwc) {
        std::memcpy(out, rgb, 3 * count);
      } else {
        HWY_DYNAMIC_DISPATCH(to_planes)(rgb, count, reinterpret_cast<std::uint8_t*>(out));
      }
      return;
    case DType::kFloat32:
      return HWY_DYNAMIC_DISPATCH(to_float32)(rgb, count, by, options.layout, out);
    case DType::kFloat16:
      return HWY_DYNAMIC_DISPATCH(to_float16)(rgb, count, by, options.layout, out);
    case DType::kBfloat16:
      return HWY_DYNAMIC_DISPATCH(to_bfloat16)(rgb, count, by, options.layout, out);
  }
}

void store_values(const float* values, std::size_t count, DType dtype, std::byte* out) {
  switch (dtype) {
    case DType::kUint8:
      return;
    case DType::kFloat32:
      std::memcpy(out, values, count * sizeof(float));
      return;
    case DType::kFloat16:
      return HWY_DYNAMIC_DISPATCH(store_float16)(values, count, out);
    case DType::kBfloat16:
      return HWY_DYNAMIC_DISPATCH(store_bfloat16)(values, count, out);
  }
}

}  // namespace fullbore::image
#endif  // HWY_ONCE
