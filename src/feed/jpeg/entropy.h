// Huffman decoding of whole runs of MCUs, nothing else: from bits to quantised coefficients in zigzag order, or past
// them. Works on bytes prepared by ScanBytes and stops at the first block that would begin behind them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "feed/jpeg/huffman.h"

namespace fullbore::jpeg {

// The blocks of one MCU in coding order.
struct McuPlan {
  struct Block {
    const DcTable* dc = nullptr;
    const AcTable* ac = nullptr;
    std::uint32_t component = 0;  // in the scan: which predictor
  };
  std::uint32_t count = 0;
  std::array<Block, kMaxBlocksInMcu> blocks{};
};

// A place in the bits, with the DC predictors there.
struct BitPosition {
  const std::uint8_t* next = nullptr;   // the first byte not wholly in `bits`
  const std::uint8_t* limit = nullptr;  // ScanBytes::limit()
  std::uint64_t bits = 0;               // left-aligned
  std::uint64_t count = 0;              // of them that are counted; more may be there already
  std::array<std::int32_t, kMaxComponents> dc{};

  static BitPosition at(const std::uint8_t* data, const std::uint8_t* limit, std::uint32_t bit);
  // Bits from `data` to here.
  std::int64_t distance(const std::uint8_t* data) const { return (next - data) * 8 - static_cast<std::int64_t>(count); }
};

// Where coefficients go. Blocks of 64 on 128-byte boundaries, kSlack of memory behind the last.
struct Coefficients {
  static constexpr std::size_t kSlack = 256;

  std::int16_t* blocks = nullptr;
  std::uint8_t* last = nullptr;  // per block: no coefficient behind this zigzag index differs from 0
};

// All return false where bits are no code, a block holds more than 64 coefficients or begins behind the bytes.
bool decode_mcus(BitPosition& position, const McuPlan& plan, std::size_t count, Coefficients out);
bool skip_mcus(BitPosition& position, const McuPlan& plan, std::size_t count);
// Two runs at once, so that one stream's lookups fill the other's latency.
bool decode_two(BitPosition& a, BitPosition& b, const McuPlan& plan, std::size_t count, Coefficients out_a,
                Coefficients out_b);

}  // namespace fullbore::jpeg
