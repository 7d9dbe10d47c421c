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

// Half of the lanes of one pass: `interleave` pairs up the inputs of those lanes.
template <int kShift, typename Interleave>
HWY_INLINE void half_pass(const V16 (&x)[8], V32 (&out)[8], Interleave interleave) {
  const V32 round = hn::Set(D32(), 1 << (kShift - 1)), zero = hn::Zero(D32());
  const V16 x04 = interleave(x[0], x[4]), x26 = interleave(x[2], x[6]);
  const V32 sum = multiply_pairs(round, x04, kOne, kOne), difference = multiply_pairs(round, x04, kOne, -kOne);
  const V32 even0 = multiply_pairs(sum, x26, kF0541 + kF0765, kF0541);
  const V32 even3 = multiply_pairs(sum, x26, -(kF0541 + kF0765), -kF0541);
  const V32 even1 = multiply_pairs(difference, x26, kF0541, kF0541 - kF1847);
  const V32 even2 = multiply_pairs(difference, x26, -kF0541, kF1847 - kF0541);

  // 16-bit sums, as in the vector code of libjpeg-turbo.
  const V16 z = interleave(hn::Add(x[7], x[3]), hn::Add(x[5], x[1]));
  const V32 z3 = multiply_pairs(zero, z, kF1175 - kF1961, kF1175),
            z4 = multiply_pairs(zero, z, kF1175, kF1175 - kF0390);
  const V16 x71 = interleave(x[7], x[1]), x53 = interleave(x[5], x[3]);
  const V32 odd0 = multiply_pairs(z3, x71, kF0298 - kF0899, -kF0899);
  const V32 odd3 = multiply_pairs(z4, x71, -kF0899, kF1501 - kF0899);
  const V32 odd1 = multiply_pairs(z4, x53, kF2053 - kF2562, -kF2562);
  const V32 odd2 = multiply_pairs(z3, x53, -kF2562, kF3072 - kF2562);

  out[0] = hn::ShiftRight<kShift>(hn::Add(even0, odd3));
  out[7] = hn::ShiftRight<kShift>(hn::Sub(even0, odd3));
  out[1] = hn::ShiftRight<kShift>(hn::Add(even1, odd2));
  out[6] = hn::ShiftRight<kShift>(hn::Sub(even1, odd2));
  out[2] = hn::ShiftRight<kShift>(hn::Add(even2, odd1));
  out[5] = hn::ShiftRight<kShift>(hn::Sub(even2, odd1));
  out[3] = hn::ShiftRight<kShift>(hn::Add(even3, odd0));
  out[4] = hn::ShiftRight<kShift>(hn::Sub(even3, odd0));
}

// One-dimensional transform down the columns; results saturate to 16 bits.
template <int kShift>
HWY_INLINE void pass(V16 (&x)[8]) {
  V32 low[8], high[8];
  half_pass<kShift>(x, low, [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveLower(D16(), a, b); });
  half_pass<kShift>(x, high, [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveUpper(D16(), a, b); });
  for (std::size_t i = 0; i < 8; ++i) x[i] = hn::ReorderDemote2To(D16(), low[i], high[i]);
}

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
  for (std::size_t i = 0; i < 4; ++i) {
    const auto a = hn::BitCast(d64, quads[i]), b = hn::BitCast(d64, quads[4 + i]);
    x[2 * i] = hn::BitCast(D16(), hn::InterleaveLower(d64, a, b));
    x[2 * i + 1] = hn::BitCast(D16(), hn::InterleaveUpper(d64, a, b));
  }
}

// Vector `index` of each block's zigzag coefficients, side by side.
HWY_INLINE V16 load_blocks(const std::int16_t* blocks, const std::uint32_t* order, std::size_t index) {
  const hn::CappedTag<std::int16_t, 8> d;
  alignas(64) std::int16_t side_by_side[32];
  for (std::size_t b = 0; b < blocks_at_once(); ++b) {
    hn::Store(hn::Load(d, blocks + kBlockSize * order[b] + 8 * index), d, side_by_side + 8 * b);
  }
  return hn::Load(D16(), side_by_side);
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

HWY_INLINE void transform(const std::int16_t* blocks, const std::uint32_t* order, const DequantTable& table,
                          std::uint8_t* samples, std::size_t stride) {
  V16 zigzag[8], x[8];
  for (std::size_t i = 0; i < 8; ++i) zigzag[i] = load_blocks(blocks, order, i);
  gather_rows(zigzag, x, std::make_index_sequence<8>());
  for (std::size_t r = 0; r < 8; ++r) x[r] = hn::Mul(x[r], hn::Load(D16(), table.rows.data() + 32 * r));
  pass<11>(x);
  transpose(x);
  pass<18>(x);
  transpose(x);
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
    for (std::size_t b = 0; b < blocks_at_once(); ++b) furthest |= in.last[order[b]];
    if (furthest == 0) {
      fill_flat(in.blocks, order, table, samples, stride);
    } else {
      transform(in.blocks, order, table, samples, stride);
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
