#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/image/color.cc"
#include "feed/image/color.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

// This file is compiled without contraction, as Pillow for x86-64 is: a product and a sum have a rounding each.
HWY_BEFORE_NAMESPACE();
namespace fullbore::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, DF>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// Pillow's blend of two pictures, which cuts what is behind the point.
HWY_INLINE VI blended(VI from, VI to, float factor) {
  const VF way = hn::Mul(hn::Set(DF(), factor), hn::ConvertTo(DF(), hn::Sub(to, from)));
  const VF there = hn::Add(hn::ConvertTo(DF(), from), way);
  return hn::ConvertTo(DI(), hn::Min(hn::Max(there, hn::Zero(DF())), hn::Set(DF(), 255.0f)));
}

HWY_INLINE VI gray_of(VI red, VI green, VI blue) {
  const VI sum = hn::Add(hn::Add(hn::Mul(red, hn::Set(DI(), 19595)), hn::Mul(green, hn::Set(DI(), 38470))),
                         hn::Add(hn::Mul(blue, hn::Set(DI(), 7471)), hn::Set(DI(), 0x8000)));
  return hn::ShiftRight<16>(sum);
}

// Moves each value away from one that all pixels share.
struct BlendWithLevel {
  int level;
  float factor;
  HWY_INLINE void operator()(VI& red, VI& green, VI& blue) const {
    const VI from = hn::Set(DI(), level);
    red = blended(from, red, factor);
    green = blended(from, green, factor);
    blue = blended(from, blue, factor);
  }
};

struct BlendWithGray {
  float factor;
  HWY_INLINE void operator()(VI& red, VI& green, VI& blue) const {
    const VI gray = gray_of(red, green, blue);
    red = blended(gray, red, factor);
    green = blended(gray, green, factor);
    blue = blended(gray, blue, factor);
  }
};

struct MakeGray {
  HWY_INLINE void operator()(VI& red, VI& green, VI& blue) const { red = green = blue = gray_of(red, green, blue); }
};

// A whole number of vectors.
template <typename Change>
HWY_INLINE void change_vectors(std::uint8_t* rgb, std::size_t count, const Change& change) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(DF())) {
    hn::Vec<D8> r, g, b;
    hn::LoadInterleaved3(D8(), rgb + 3 * i, r, g, b);
    VI red = hn::PromoteTo(DI(), r), green = hn::PromoteTo(DI(), g), blue = hn::PromoteTo(DI(), b);
    change(red, green, blue);
    hn::StoreInterleaved3(hn::DemoteTo(D8(), red), hn::DemoteTo(D8(), green), hn::DemoteTo(D8(), blue), D8(),
                          rgb + 3 * i);
  }
}

template <typename Change>
HWY_INLINE void change_pixels(std::uint8_t* rgb, std::size_t count, const Change& change) {
  const std::size_t lanes = hn::Lanes(DF()), whole = count / lanes * lanes, rest = count - whole;
  change_vectors(rgb, whole, change);
  if (rest == 0) return;
  // The last pixels go through a vector of their own, so that nothing is read or written behind them.
  std::uint8_t last[3 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(last, rgb + 3 * whole, 3 * rest);
  change_vectors(last, lanes, change);
  std::memcpy(rgb + 3 * whole, last, 3 * rest);
}

void blend_with_level(std::uint8_t* rgb, std::size_t count, int level, float factor) {
  change_pixels(rgb, count, BlendWithLevel{level, factor});
}
void blend_with_gray(std::uint8_t* rgb, std::size_t count, float factor) {
  change_pixels(rgb, count, BlendWithGray{factor});
}
void to_gray(std::uint8_t* rgb, std::size_t count) {
  change_pixels(rgb, count, MakeGray());
}

// Of so few pixels that 32 bits hold it.
std::uint64_t sum_of_gray(const std::uint8_t* rgb, std::size_t count) {
  const std::size_t lanes = hn::Lanes(DF()), whole = count / lanes * lanes;
  VI sums = hn::Zero(DI());
  for (std::size_t i = 0; i < whole; i += lanes) {
    hn::Vec<D8> r, g, b;
    hn::LoadInterleaved3(D8(), rgb + 3 * i, r, g, b);
    sums = hn::Add(sums, gray_of(hn::PromoteTo(DI(), r), hn::PromoteTo(DI(), g), hn::PromoteTo(DI(), b)));
  }
  std::uint64_t sum = static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), sums)));
  for (std::size_t i = 3 * whole; i < 3 * count; i += 3)
    sum += (rgb[i] * 19595u + rgb[i + 1] * 38470u + rgb[i + 2] * 7471u + 0x8000u) >> 16;
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::image {

HWY_EXPORT(blend_with_level);
HWY_EXPORT(blend_with_gray);
HWY_EXPORT(to_gray);
HWY_EXPORT(sum_of_gray);

void adjust_brightness(std::uint8_t* rgb, std::size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(blend_with_level)(rgb, count, 0, factor);
}

void adjust_contrast(std::uint8_t* rgb, std::size_t count, float factor) {
  constexpr std::size_t kAtOnce = 1 << 20;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; i += kAtOnce)
    sum += HWY_DYNAMIC_DISPATCH(sum_of_gray)(rgb + 3 * i, std::min(kAtOnce, count - i));
  const double mean = static_cast<double>(sum) / static_cast<double>(count);
  HWY_DYNAMIC_DISPATCH(blend_with_level)(rgb, count, static_cast<int>(mean + 0.5), factor);
}

void adjust_saturation(std::uint8_t* rgb, std::size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(blend_with_gray)(rgb, count, factor);
}

void make_gray(std::uint8_t* rgb, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(to_gray)(rgb, count);
}

}  // namespace fullbore::image
#endif  // HWY_ONCE
