#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "feed/jpeg/idct.cc"
#include "feed/jpeg/idct.h"

#include <hwy/foreach_target.h>
// Highway wants its own headers behind the loop over targets.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#ifndef FULLBORE_FEED_JPEG_IDCT_ONCE
#define FULLBORE_FEED_JPEG_IDCT_ONCE
namespace fullbore::jpeg {

// Natural index of each zigzag position (T.81, figure A.6).
inline constexpr std::array<std::uint8_t, kBlockSize> kNaturalOrder = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// Byte shuffles that gather row r of a block from its eight vectors of zigzag coefficients; 0x80 gives zero.
struct Shuffles {
  alignas(16) std::uint8_t bytes[8][8][16];  // [row][vector]
  bool used[8][8];
};

constexpr Shuffles make_shuffles() {
  Shuffles s{};
  for (auto& row : s.bytes) {
    for (auto& vector : row) {
      for (auto& byte : vector) byte = 0x80;
    }
  }
  for (std::size_t zigzag = 0; zigzag < kBlockSize; ++zigzag) {
    const std::size_t row = kNaturalOrder[zigzag] / 8u, column = kNaturalOrder[zigzag] % 8u;
    s.bytes[row][zigzag / 8][2 * column] = static_cast<std::uint8_t>(zigzag % 8 * 2);
    s.bytes[row][zigzag / 8][2 * column + 1] = static_cast<std::uint8_t>(zigzag % 8 * 2 + 1);
    s.used[row][zigzag / 8] = true;
  }
  return s;
}
inline constexpr Shuffles kShuffles = make_shuffles();

// 13-bit fixed point of the constants in jidctint.c (Loeffler, Ligtenberg and Moschytz, 1989).
inline constexpr int kF0298 = 2446, kF0390 = 3196, kF0541 = 4433, kF0765 = 6270, kF0899 = 7373, kF1175 = 9633;
inline constexpr int kF1501 = 12299, kF1847 = 15137, kF1961 = 16069, kF2053 = 16819, kF2562 = 20995, kF3072 = 25172;
inline constexpr int kOne = 8192;

}  // namespace fullbore::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace fullbore::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes 8b .. 8b + 7 belong to block b.
using D16 = hn::CappedTag<std::int16_t, 32>;
using D32 = hn::Repartition<std::int32_t, D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

HWY_INLINE std::size_t blocks_at_once() {
  return hn::Lanes(D16()) / 8;
}

// sum + a[2i] * x + a[2i + 1] * y
HWY_INLINE V32 multiply_pairs(V32 sum, V16 pairs, int x, int y) {
  const V16 factors =
      hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << 16 |
                                                                  (static_cast<std::uint32_t>(x) & 0xffff))));
  V32 odd = hn::Zero(D32());
  sum = hn::ReorderWidenMulAccumulate(D32(), pairs, factors, sum, odd);
  return hn::RearrangeToOddPlusEven(sum, odd);
}

// The even and the odd half of a pass, for half of the lanes: `interleave` pairs up the inputs of those.
struct Terms {
  V32 even[4], odd[4];
};

template <int kShift, typename Interleave>
HWY_INLINE Terms full_terms(const V16 (&x)[8], Interleave interleave) {
  const V32 round = hn::Set(D32(), 1 << (kShift - 1)), zero = hn::Zero(D32());
  const V16 x04 = interleave(x[0], x[4]), x26 = interleave(x[2], x[6]);
  const V32 sum = multiply_pairs(round, x04, kOne, kOne), difference = multiply_pairs(round, x04, kOne, -kOne);
  // 16-bit sums, as in the vector code of libjpeg-turbo.
  const V16 z = interleave(hn::Add(x[7], x[3]), hn::Add(x[5], x[1]));
  const V32 z3 = multiply_pairs(zero, z, kF1175 - kF1961, kF1175);
  const V32 z4 = multiply_pairs(zero, z, kF1175, kF1175 - kF0390);
  const V16 x71 = interleave(x[7], x[1]), x53 = interleave(x[5], x[3]);
  return {{multiply_pairs(sum, x26, kF0541 + kF0765, kF0541), multiply_pairs(difference, x26, kF0541, kF0541 - kF1847),
           multiply_pairs(difference, x26, -kF0541, kF1847 - kF0541),
           multiply_pairs(sum, x26, -(kF0541 + kF0765), -kF0541)},
          {multiply_pairs(z3, x71, kF0298 - kF0899, -kF0899), multiply_pairs(z4, x53, kF2053 - kF2562, -kF2562),
           multiply_pairs(z3, x53, -kF2562, kF3072 - kF2562), multiply_pairs(z4, x71, -kF0899, kF1501 - kF0899)}};
}

// The same when x[4] to x[7] are zero.
template <int kShift, typename Interleave>
HWY_INLINE Terms short_terms(const V16 (&x)[8], Interleave interleave) {
  const V32 round = hn::Set(D32(), 1 << (kShift - 1)), zero = hn::Zero(D32());
  const V16 x02 = interleave(x[0], x[2]), x31 = interleave(x[3], x[1]);
  return {{multiply_pairs(round, x02, kOne, kF0541 + kF0765), multiply_pairs(round, x02, kOne, kF0541),
           multiply_pairs(round, x02, kOne, -kF0541), multiply_pairs(round, x02, kOne, -(kF0541 + kF0765))},
          {multiply_pairs(zero, x31, kF1175 - kF1961, kF1175 - kF0899),
           multiply_pairs(zero, x31, kF1175 - kF2562, kF1175 - kF0390),
           multiply_pairs(zero, x31, kF1175 - kF1961 + kF3072 - kF2562, kF1175),
           multiply_pairs(zero, x31, kF1175, kF1175 - kF0390 + kF1501 - kF0899)}};
}

template <int kShift>
HWY_INLINE void combine(const Terms& t, V32 (&out)[8]) {
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = hn::ShiftRight<kShift>(hn::Add(t.even[i], t.odd[3 - i]));
    out[7 - i] = hn::ShiftRight<kShift>(hn::Sub(t.even[i], t.odd[3 - i]));
  }
}

// One-dimensional transform down the columns; results saturate to 16 bits.
template <int kShift, bool kShort>
HWY_INLINE void pass(V16 (&x)[8]) {
  V32 low[8], high[8];
  const auto lower = [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveLower(D16(), a, b); };
  const auto upper = [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveUpper(D16(), a, b); };
  combine<kShift>(kShort ? short_terms<kShift>(x, lower) : full_terms<kShift>(x, lower), low);
  combine<kShift>(kShort ? short_terms<kShift>(x, upper) : full_terms<kShift>(x, upper), high);
  for (std::size_t i = 0; i < 8; ++i) x[i] = hn::ReorderDemote2To(D16(), low[i], high[i]);
}

// kShort: the lower half of each block's rows of results is not needed, since columns 4 to 7 were zero.
template <bool kShort>
HWY_INLINE void transpose(V16 (&x)[8]) {
  const hn::Repartition<std::int64_t, D16> d64;
  V32 quads[8];  // rows 2i, 2i + 1 in pairs, then four rows together
  for (std::size_t half = 0; half < 2; ++half) {
    const V16* p = x + 4 * half;
    const V32 a0 = hn::BitCast(D32(), hn::InterleaveLower(D16(), p[0], p[1]));
    const V32 a1 = hn::BitCast(D32(), hn::InterleaveUpper(D16(), p[0], p[1]));
    const V32 b0 = hn::BitCast(D32(), hn::InterleaveLower(D16(), p[2], p[3]));
    const V32 b1 = hn::BitCast(D32(), hn::InterleaveUpper(D16(), p[2], p[3]));
    quads[4 * half + 0] = hn::InterleaveLower(D32(), a0, b0);
    quads[4 * half + 1] = hn::InterleaveUpper(D32(), a0, b0);
    quads[4 * half + 2] = hn::InterleaveLower(D32(), a1, b1);
    quads[4 * half + 3] = hn::InterleaveUpper(D32(), a1, b1);
  }
  for (std::size_t i = 0; i < (kShort ? 2 : 4); ++i) {
    const auto a = hn::BitCast(d64, quads[i]), b = hn::BitCast(d64, quads[4 + i]);
    x[2 * i] = hn::BitCast(D16(), hn::InterleaveLower(d64, a, b));
    x[2 * i + 1] = hn::BitCast(D16(), hn::InterleaveUpper(d64, a, b));
  }
}

// Eight coefficients of each of the blocks, side by side; in registers, since a load of what was just stored in parts
// waits for the stores.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::int16_t* blocks, const std::uint32_t* order, std::size_t index) {
  if constexpr (hn::MaxLanes(D()) <= 8) {
    return hn::Load(d, blocks + kBlockSize * order[0] + 8 * index);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, blocks, order + hn::Lanes(half) / 8, index),
                       load_blocks(half, blocks, order, index));
  }
}

template <std::size_t kRow, std::size_t... kVectors>
HWY_INLINE V16 gather_row(const V16 (&zigzag)[8], std::index_sequence<kVectors...>) {
  const hn::Repartition<std::uint8_t, D16> d8;
  auto row = hn::Zero(d8);
  const auto add = [&](auto vector, V16 from) HWY_ATTR {
    if constexpr (kShuffles.used[kRow][vector()]) {
      const auto shuffle = hn::LoadDup128(d8, kShuffles.bytes[kRow][vector()]);
      row = hn::Or(row, hn::TableLookupBytesOr0(hn::BitCast(d8, from), shuffle));
    }
  };
  (add(std::integral_constant<std::size_t, kVectors>(), zigzag[kVectors]), ...);
  return hn::BitCast(D16(), row);
}

template <std::size_t... kRows>
HWY_INLINE void gather_rows(const V16 (&zigzag)[8], V16 (&rows)[8], std::index_sequence<kRows...>) {
  ((rows[kRows] = gather_row<kRows>(zigzag, std::make_index_sequence<8>())), ...);
}

// Rows in natural order, only the first four of them (and their first four coefficients) for kShort.
template <bool kShort>
HWY_INLINE void load_rows(const std::int16_t* blocks, const std::uint32_t* order, V16 (&rows)[8]) {
  V16 zigzag[8];
  for (std::size_t i = 0; i < 8; ++i) {
    zigzag[i] = kShort && i > 1 ? hn::Zero(D16()) : load_blocks(D16(), blocks, order, i);
  }
  gather_rows(zigzag, rows, std::make_index_sequence<kShort ? 4 : 8>());
}

// kShort: no coefficient behind the tenth, so that only the upper left 4 x 4 of each block are not zero.
template <bool kShort>
HWY_INLINE void transform(const std::int16_t* blocks, const std::uint32_t* order, const DequantTable& table,
                          std::uint8_t* samples, std::size_t stride) {
  V16 x[8];
  load_rows<kShort>(blocks, order, x);
  for (std::size_t r = 0; r < (kShort ? 4 : 8); ++r) {
    x[r] = hn::Mul(x[r], hn::Load(D16(), table.rows.data() + 32 * r));
  }
  pass<11, kShort>(x);
  transpose<kShort>(x);
  pass<18, kShort>(x);
  transpose<false>(x);
  const hn::Rebind<std::uint8_t, D16> d8;
  for (std::size_t r = 0; r < 8; ++r) {
    const V16 centered = hn::SaturatedAdd(x[r], hn::Set(D16(), 128));
    hn::StoreU(hn::DemoteTo(d8, centered), d8, samples + r * stride);
  }
}

// Blocks without AC coefficients are flat.
HWY_INLINE void fill_flat(const std::int16_t* blocks, const std::uint32_t* order, const DequantTable& table,
                          std::uint8_t* samples, std::size_t stride) {
  std::uint64_t row[4];
  for (std::size_t b = 0; b < blocks_at_once(); ++b) {
    // 16 bits, wrapped twice as libjpeg-turbo's shortcut does.
    const auto dc = static_cast<std::int16_t>(blocks[kBlockSize * order[b]] * table.rows[0]);
    const int value = (static_cast<std::int16_t>(dc * 4) + 16) >> 5;
    row[b] = 0x0101010101010101u * static_cast<std::uint64_t>(std::clamp(value + 128, 0, 255));
  }
  for (std::size_t r = 0; r < 8; ++r) std::memcpy(samples + r * stride, row, 8 * blocks_at_once());
}

void inverse_dct(const Coefficients& in, const std::uint32_t* order, std::size_t count, const DequantTable& table,
                 std::uint8_t* samples, std::size_t stride) {
  for (std::size_t i = 0; i < count;
       i += blocks_at_once(), order += blocks_at_once(), samples += 8 * blocks_at_once()) {
    std::uint8_t furthest = 0;
    for (std::size_t b = 0; b < blocks_at_once(); ++b) furthest = std::max(furthest, in.last[order[b]]);
    if (furthest == 0) {
      fill_flat(in.blocks, order, table, samples, stride);
    } else if (furthest < 10) {
      transform<true>(in.blocks, order, table, samples, stride);
    } else {
      transform<false>(in.blocks, order, table, samples, stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullbore::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullbore::jpeg {

DequantTable::DequantTable(const QuantTable& zigzag) {
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    const std::size_t row = kNaturalOrder[i] / 8u, column = kNaturalOrder[i] % 8u;
    for (std::size_t block = 0; block < 4; ++block) {
      rows[32 * row + 8 * block + column] = static_cast<std::int16_t>(zigzag[i]);
    }
  }
}

HWY_EXPORT(inverse_dct);

void inverse_dct(const Coefficients& in, const std::uint32_t* order, std::size_t count, const DequantTable& table,
                 std::uint8_t* samples, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(inverse_dct)(in, order, count, table, samples, stride);
}

}  // namespace fullbore::jpeg
#endif  // HWY_ONCE
