#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/jpeg/color.cc"
#include "feed/jpeg/color.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fullbore::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D8 = hn::Repartition<std::uint8_t, D16>;
using DU16 = hn::Repartition<std::uint16_t, D16>;
using D32 = hn::Repartition<std::int32_t, D16>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;

struct Rgb16 {
  V16 r, g, b;
};

HWY_INLINE V16 green_chroma(V16 cb, V16 cr) {
  // -0.34414 * 65536 and (1 - 0.71414) * 65536; the missing -cr is added in 16 bits.
  const V16 factors = hn::BitCast(
      D16(), hn::Set(D32(), static_cast<std::int32_t>(18734u << 16 | (static_cast<std::uint32_t>(-22554) & 0xffff))));
  const auto half = [&](V16 pairs) HWY_ATTR {
    hn::Vec<D32> odd = hn::Zero(D32());
    const auto sum = hn::ReorderWidenMulAccumulate(D32(), pairs, factors, hn::Set(D32(), 32768), odd);
    return hn::ShiftRight<16>(hn::RearrangeToOddPlusEven(sum, odd));
  };
  return hn::Sub(
      hn::ReorderDemote2To(D16(), half(hn::InterleaveLower(D16(), cb, cr)), half(hn::InterleaveUpper(D16(), cb, cr))),
      cr);
}

// Unclamped.
HWY_INLINE Rgb16 convert(V16 y, V16 cb, V16 cr) {
  const V16 center = hn::Set(D16(), 128), one = hn::Set(D16(), 1);
  cb = hn::Sub(cb, center);
  cr = hn::Sub(cr, center);
  // 1.402 = 1 + 0.402: the product with twice the value, rounded by hand, stays within 16 bits.
  const V16 red = hn::ShiftRight<1>(hn::Add(hn::MulHigh(hn::Add(cr, cr), hn::Set(D16(), 26345)), one));
  // 1.772 = 2 - 0.228
  const V16 blue = hn::MulFixedPoint15(cb, hn::Set(D16(), -7471));
  return {hn::Add(hn::Add(y, cr), red), hn::Add(y, green_chroma(cb, cr)), hn::Add(hn::Add(y, hn::Add(cb, cb)), blue)};
}

HWY_INLINE V16 even_bytes(V8 bytes) {
  return hn::And(hn::BitCast(D16(), bytes), hn::Set(D16(), 255));
}
HWY_INLINE V16 odd_bytes(V8 bytes) {
  return hn::BitCast(D16(), hn::ShiftRight<8>(hn::BitCast(DU16(), bytes)));
}
HWY_INLINE V8 join(V16 even, V16 odd, V8 invert) {
  const V16 zero = hn::Zero(D16()), top = hn::Set(D16(), 255);
  const V16 low = hn::Min(hn::Max(even, zero), top), high = hn::Min(hn::Max(odd, zero), top);
  return hn::Xor(hn::BitCast(D8(), hn::Or(low, hn::ShiftLeft<8>(high))), invert);
}

HWY_INLINE void convert_rows(const ChannelRows& rows, std::size_t count, V8 invert) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(D8())) {
    const V8 y = hn::LoadU(D8(), rows[0] + i), cb = hn::LoadU(D8(), rows[1] + i), cr = hn::LoadU(D8(), rows[2] + i);
    const Rgb16 even = convert(even_bytes(y), even_bytes(cb), even_bytes(cr));
    const Rgb16 odd = convert(odd_bytes(y), odd_bytes(cb), odd_bytes(cr));
    hn::StoreU(join(even.r, odd.r, invert), D8(), rows[0] + i);
    hn::StoreU(join(even.g, odd.g, invert), D8(), rows[1] + i);
    hn::StoreU(join(even.b, odd.b, invert), D8(), rows[2] + i);
  }
}

void ycc_to_rgb(const ChannelRows& rows, std::size_t count) {
  convert_rows(rows, count, hn::Zero(D8()));
}
void ycc_to_cmy(const ChannelRows& rows, std::size_t count) {
  convert_rows(rows, count, hn::Set(D8(), 255));
}

void interleave(const ChannelRows& rows, std::size_t count, std::uint32_t channels, std::uint8_t* pixels) {
  const std::size_t lanes = hn::Lanes(D8());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V8 a = hn::LoadU(D8(), rows[0] + i), b = hn::LoadU(D8(), rows[1] + i), c = hn::LoadU(D8(), rows[2] + i);
    if (channels == 3) {
      hn::StoreInterleaved3(a, b, c, D8(), pixels + 3 * i);
    } else {
      hn::StoreInterleaved4(a, b, c, hn::LoadU(D8(), rows[3] + i), D8(), pixels + 4 * i);
    }
  }
  for (; i < count; ++i) {
    for (std::uint32_t c = 0; c < channels; ++c) pixels[channels * i + c] = rows[c][i];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::jpeg {

HWY_EXPORT(ycc_to_rgb);
HWY_EXPORT(ycc_to_cmy);
HWY_EXPORT(interleave);

void ycc_to_rgb(const ChannelRows& rows, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(ycc_to_rgb)(rows, count);
}
void ycc_to_cmy(const ChannelRows& rows, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(ycc_to_cmy)(rows, count);
}
void interleave(const ChannelRows& rows, std::size_t count, std::uint32_t channels, std::uint8_t* pixels) {
  HWY_DYNAMIC_DISPATCH(interleave)(rows, count, channels, pixels);
}

}  // namespace fullbore::jpeg
#endif  // HWY_ONCE
