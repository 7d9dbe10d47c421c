#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/jpeg/upsample.cc"
#include "feed/jpeg/upsample.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace fullbore::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D8 = hn::Rebind<std::uint8_t, D16>;
using V16 = hn::Vec<D16>;

HWY_INLINE V16 load_wide(const std::uint8_t* from) {
  return hn::PromoteTo(D16(), hn::LoadU(D8(), from));
}
HWY_INLINE V16 three_times(V16 v) {
  return hn::Add(v, hn::Add(v, v));
}

// sums[-1 .. count] = nearer, or 3 * nearer + further.
void column_sums(const SampleRow& row, bool with_further, std::int16_t* sums) {
  const auto count = static_cast<std::ptrdiff_t>(row.count);
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D16()));
  for (std::ptrdiff_t i = -1; i < count + 1; i += lanes) {
    V16 sum = load_wide(row.nearer + i);
    if (with_further) sum = hn::Add(three_times(sum), load_wide(row.further + i));
    hn::StoreU(sum, D16(), sums + i);
  }
}

// Each sum becomes two samples, a quarter towards either neighbour.
template <int kShift>
HWY_INLINE void widen(const std::int16_t* sums, std::size_t count, int left_bias, int right_bias, std::uint8_t* out) {
  const hn::Repartition<std::uint8_t, D16> bytes;
  const V16 left = hn::Set(D16(), static_cast<std::int16_t>(left_bias));
  const V16 right = hn::Set(D16(), static_cast<std::int16_t>(right_bias));
  for (std::size_t i = 0; i < count; i += hn::Lanes(D16())) {
    const V16 center = three_times(hn::LoadU(D16(), sums + i));
    const V16 even = hn::ShiftRight<kShift>(hn::Add(hn::Add(center, hn::LoadU(D16(), sums + i - 1)), left));
    const V16 odd = hn::ShiftRight<kShift>(hn::Add(hn::Add(center, hn::LoadU(D16(), sums + i + 1)), right));
    hn::StoreU(hn::BitCast(bytes, hn::Or(even, hn::ShiftLeft<8>(odd))), bytes, out + 2 * i);
  }
}

void widen_h2v1(const std::int16_t* sums, std::size_t count, std::uint8_t* out) {
  widen<2>(sums, count, 1, 2, out);
}
void widen_h2v2(const std::int16_t* sums, std::size_t count, std::uint8_t* out) {
  widen<4>(sums, count, 8, 7, out);
}

void narrow_h1v2(const std::int16_t* sums, std::size_t count, bool below, std::uint8_t* out) {
  const V16 bias = hn::Set(D16(), below ? 2 : 1);
  for (std::size_t i = 0; i < count; i += hn::Lanes(D16())) {
    const V16 value = hn::ShiftRight<2>(hn::Add(hn::LoadU(D16(), sums + i), bias));
    hn::StoreU(hn::DemoteTo(D8(), value), D8(), out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::jpeg {
namespace {

HWY_EXPORT(column_sums);
HWY_EXPORT(widen_h2v1);
HWY_EXPORT(widen_h2v2);
HWY_EXPORT(narrow_h1v2);

constexpr std::size_t kMargin = 64;  // lanes before the first sum and behind the last

void repeat(const SampleRow& row, std::size_t factor, std::uint8_t* out) {
  for (std::size_t i = 0; i < row.count; ++i) out = std::fill_n(out, factor, row.nearer[i]);
}

}  // namespace

Upsampling upsampling_of(const Frame& frame, const Component& component) {
  const std::uint32_t across = frame.max_h / component.h, down = frame.max_v / component.v;
  const bool exact = across * component.h == frame.max_h && down * component.v == frame.max_v;
  if (exact && across == 1 && down == 1) return Upsampling::kNone;
  if (exact && across == 1 && down == 2) return Upsampling::kH1V2;
  if (exact && across == 2 && down <= 2 && component.width > 2)
    return down == 1 ? Upsampling::kH2V1 : Upsampling::kH2V2;
  return Upsampling::kRepeat;
}

void Upsampler::run(Upsampling kind, const SampleRow& row, std::size_t factor, std::uint8_t* out) {
  if (kind == Upsampling::kNone) {
    std::copy_n(row.nearer, row.count, out);
    return;
  }
  if (kind == Upsampling::kRepeat) return repeat(row, factor, out);
  if (sums_.size() < row.count + 2 * kMargin) sums_.resize(row.count + 2 * kMargin);
  std::int16_t* const sums = sums_.data() + kMargin;
  HWY_DYNAMIC_DISPATCH(column_sums)(row, kind != Upsampling::kH2V1, sums);
  if (row.at_left_edge) sums[-1] = sums[0];
  if (row.at_right_edge) sums[row.count] = sums[row.count - 1];
  if (kind == Upsampling::kH2V1) HWY_DYNAMIC_DISPATCH(widen_h2v1)(sums, row.count, out);
  if (kind == Upsampling::kH2V2) HWY_DYNAMIC_DISPATCH(widen_h2v2)(sums, row.count, out);
  if (kind == Upsampling::kH1V2) HWY_DYNAMIC_DISPATCH(narrow_h1v2)(sums, row.count, row.below, out);
}

}  // namespace fullbore::jpeg
#endif  // HWY_ONCE
