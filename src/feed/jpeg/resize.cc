#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/jpeg/resize.cc"
#include "feed/jpeg/resize.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fullbore::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kTaps pairs of rows, or any number of them for 0. `row(i)` is input row i; writes `length` bytes rounded up to
// vectors.
template <class D8, typename Row>
HWY_INLINE void combine(D8 d8, const WeightPair* weights, std::size_t pairs, std::size_t count, Row row,
                        std::size_t length, std::uint8_t* out) {
  const hn::Repartition<std::int16_t, D8> d16;
  const hn::Repartition<std::uint16_t, D8> du16;
  const hn::Repartition<std::int32_t, D8> d32;
  using V8 = hn::Vec<D8>;
  using V16 = hn::Vec<decltype(d16)>;
  using V32 = hn::Vec<decltype(d32)>;
  const auto pair_factor = [&](const std::int16_t(&pair)[2]) HWY_ATTR {
    std::int32_t both;
    std::memcpy(&both, pair, sizeof both);
    return hn::BitCast(d16, hn::Set(d32, both));
  };
  const auto accumulate = [&](V32& sum, V16 pixels, V16 factor) HWY_ATTR {
    V32 odd = hn::Zero(d32);
    sum = hn::RearrangeToOddPlusEven(hn::ReorderWidenMulAccumulate(d32, pixels, factor, sum, odd), odd);
  };
  const V32 half = hn::Set(d32, 1 << (kWeightBits - 1));
  for (std::size_t i = 0; i < length; i += hn::Lanes(d8)) {
    // Even and odd bytes apart, lower and upper half of each 128 bits: joined again without crossing lanes.
    V32 high0 = hn::Zero(d32), high1 = high0, high2 = high0, high3 = high0;
    V32 low0 = half, low1 = half, low2 = half, low3 = half;
    for (std::size_t p = 0; p < pairs; ++p) {
      const V8 a = hn::LoadU(d8, row(2 * p) + i);
      const V8 b = hn::LoadU(d8, row(std::min(2 * p + 1, count - 1)) + i);
      const V16 high = pair_factor(weights[p].high), low = pair_factor(weights[p].low);
      const V16 mask = hn::Set(d16, 255);
      const V16 a_even = hn::And(hn::BitCast(d16, a), mask), b_even = hn::And(hn::BitCast(d16, b), mask);
      const V16 a_odd = hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, a)));
      const V16 b_odd = hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, b)));
      const V16 even_lower = hn::InterleaveLower(d16, a_even, b_even),
                even_upper = hn::InterleaveUpper(d16, a_even, b_even);
      const V16 odd_lower = hn::InterleaveLower(d16, a_odd, b_odd), odd_upper = hn::InterleaveUpper(d16, a_odd, b_odd);
      accumulate(high0, even_lower, high);
      accumulate(high1, even_upper, high);
      accumulate(high2, odd_lower, high);
      accumulate(high3, odd_upper, high);
      accumulate(low0, even_lower, low);
      accumulate(low1, even_upper, low);
      accumulate(low2, odd_lower, low);
      accumulate(low3, odd_upper, low);
    }
    const auto total = [&](V32 high, V32 low)
                           HWY_ATTR { return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<12>(high), low)); };
    const V16 zero = hn::Zero(d16), top = hn::Set(d16, 255);
    const V16 even = hn::ReorderDemote2To(d16, total(high0, low0), total(high1, low1));
    const V16 odd = hn::ReorderDemote2To(d16, total(high2, low2), total(high3, low3));
    const V16 clamped_even = hn::Min(hn::Max(even, zero), top), clamped_odd = hn::Min(hn::Max(odd, zero), top);
    hn::StoreU(hn::BitCast(d8, hn::Or(clamped_even, hn::ShiftLeft<8>(clamped_odd))), d8, out + i);
  }
}

// Specialised where loops are short enough to unroll.
template <class D8, typename Row>
HWY_INLINE void combine_any(D8 d8, const WeightPair* weights, std::size_t count, Row row, std::size_t length,
                            std::uint8_t* out) {
  switch ((count + 1) / 2) {
    case 1:
      return combine(d8, weights, 1, count, row, length, out);
    case 2:
      return combine(d8, weights, 2, count, row, length, out);
    case 3:
      return combine(d8, weights, 3, count, row, length, out);
    default:
      return combine(d8, weights, (count + 1) / 2, count, row, length, out);
  }
}

// [x][entry] -> [out x][entry], entries of `size` bytes, a multiple of 32.
void narrow(const AxisWeights& weights, std::uint32_t out_size, bool flip, std::size_t size, const std::uint8_t* in,
            std::uint8_t* out) {
  const hn::CappedTag<std::uint8_t, 32> d8;
  for (std::uint32_t x = 0; x < out_size; ++x) {
    const std::uint8_t* first = in + weights.first(x) * size;
    std::uint8_t* to = out + (flip ? out_size - 1 - x : x) * size;
    combine_any(
        d8, weights.weights(x), weights.count(x), [&](std::size_t i) HWY_ATTR { return first + i * size; }, size, to);
  }
}

void combine_rows(const WeightPair* weights, const std::uint8_t* const* rows, std::size_t count, std::size_t length,
                  std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d8;
  combine_any(d8, weights, count, [&](std::size_t i) HWY_ATTR { return rows[i]; }, length, out);
}

// A 16 x 16 matrix of bytes: out[c][r] = in[r][c].
HWY_INLINE void transpose16(const std::uint8_t* in, std::size_t in_pitch, std::uint8_t* out, std::size_t out_pitch) {
  const hn::CappedTag<std::uint8_t, 16> d8;
  using V = hn::Vec<decltype(d8)>;
  V a[16], b[16];
  // Each round merges rows that lie half as far apart as the round before.
  for (std::size_t i = 0; i < 16; ++i) a[i] = hn::LoadU(d8, in + i * in_pitch);
  for (std::size_t i = 0; i < 8; ++i) {
    b[2 * i] = hn::InterleaveLower(d8, a[i], a[i + 8]);
    b[2 * i + 1] = hn::InterleaveUpper(d8, a[i], a[i + 8]);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    a[2 * i] = hn::InterleaveLower(d8, b[i], b[i + 8]);
    a[2 * i + 1] = hn::InterleaveUpper(d8, b[i], b[i + 8]);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    b[2 * i] = hn::InterleaveLower(d8, a[i], a[i + 8]);
    b[2 * i + 1] = hn::InterleaveUpper(d8, a[i], a[i + 8]);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    hn::StoreU(hn::InterleaveLower(d8, b[i], b[i + 8]), d8, out + 2 * i * out_pitch);
    hn::StoreU(hn::InterleaveUpper(d8, b[i], b[i + 8]), d8, out + (2 * i + 1) * out_pitch);
  }
}

void transpose(const std::uint8_t* in, std::size_t in_pitch, std::size_t columns, std::uint8_t* out,
               std::size_t out_pitch) {
  for (std::size_t x = 0; x < columns; x += 16) {
    transpose16(in + x, in_pitch, out + x * out_pitch, out_pitch);
    transpose16(in + 16 * in_pitch + x, in_pitch, out + x * out_pitch + 16, out_pitch);
  }
}

// 32-byte columns back to rows.
void transpose_back(const std::uint8_t* in, std::size_t columns, std::uint8_t* out, std::size_t out_pitch) {
  for (std::size_t x = 0; x < columns; x += 16) {
    transpose16(in + 32 * x, 32, out + x, out_pitch);
    transpose16(in + 32 * x + 16, 32, out + 16 * out_pitch + x, out_pitch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::jpeg {
namespace {

HWY_EXPORT(narrow);
HWY_EXPORT(combine_rows);
HWY_EXPORT(transpose);
HWY_EXPORT(transpose_back);

constexpr std::size_t kSlack = 64;  // a vector behind the end of each buffer

std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

void grow(std::vector<std::uint8_t>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

void Resizer::begin(const Size& in, const Resize& resize, std::uint32_t channels, std::span<std::uint8_t> pixels,
                    std::size_t stride) {
  in_ = in;
  resize_ = resize;
  channels_ = channels;
  pixels_ = pixels;
  stride_ = stride;
  across_.make(in.width, resize.size.width, resize.filter);
  down_.make(in.height, resize.size.height, resize.filter);
  added_ = 0;
  finished_ = 0;
  const std::size_t row = std::size_t{resize.size.width} * channels;
  // Transposing works on 16 columns at once: all buffers have room for whole ones.
  pitch_ = round_up(in.width + 4, 16) + kSlack;
  grow(band_, kBand * channels * pitch_ + kSlack);
  grow(turned_, round_up(in.width, 16) * channels * kBand + kSlack);
  grow(narrowed_, (row + 16) * kBand + kSlack);
  middle_pitch_ = round_up(row, 64);
  middle_rows_ = round_up(down_.max_count(), kBand) + kBand;
  grow(middle_, middle_rows_ * middle_pitch_ + kSlack);
  grow(out_row_, middle_pitch_ + kSlack);
}

ChannelRows Resizer::next_rows() {
  ChannelRows rows{};
  for (std::uint32_t c = 0; c < channels_; ++c) rows[c] = band_.data() + ((added_ % kBand) * channels_ + c) * pitch_;
  return rows;
}

void Resizer::turn_band() {
  for (std::uint32_t c = 0; c < channels_; ++c) {
    HWY_DYNAMIC_DISPATCH(transpose)(source_.row[c], channels_ * pitch_, in_.width, turned_.data() + c * kBand,
                                    channels_ * kBand);
  }
}

void Resizer::finish_band() {
  const std::size_t first = (added_ - 1) / kBand * kBand;
  turn_band();
  HWY_DYNAMIC_DISPATCH(narrow)
  (across_, resize_.size.width, resize_.flip, channels_ * kBand, turned_.data(), narrowed_.data());
  HWY_DYNAMIC_DISPATCH(transpose_back)
  (narrowed_.data(), std::size_t{resize_.size.width} * channels_, middle_row(first), middle_pitch_);

  std::vector<const std::uint8_t*> rows(down_.max_count());
  const std::size_t length = std::size_t{resize_.size.width} * channels_;
  for (; finished_ < resize_.size.height; ++finished_) {
    const std::size_t from = down_.first(finished_), count = down_.count(finished_);
    if (from + count > added_) break;
    for (std::size_t i = 0; i < count; ++i) rows[i] = middle_row(from + i);
    HWY_DYNAMIC_DISPATCH(combine_rows)(down_.weights(finished_), rows.data(), count, length, out_row_.data());
    std::memcpy(pixels_.data() + finished_ * stride_, out_row_.data(), length);
  }
}

void Resizer::add(const ChannelRows& row) {
  if (added_ % kBand == 0) {
    for (std::uint32_t c = 0; c < channels_; ++c) source_.row[c] = row[c];
  }
  ++added_;
  if (added_ % kBand == 0 || added_ == in_.height) finish_band();
}

}  // namespace fullbore::jpeg
#endif  // HWY_ONCE
