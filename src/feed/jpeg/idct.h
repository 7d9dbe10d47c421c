// The inverse DCT: from quantised coefficients in zigzag order to samples, bit for bit what libjpeg-turbo's accurate
// integer transform ("islow") gives on x86, several blocks of a row at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "feed/jpeg/entropy.h"

namespace fullbore::jpeg {

// A quantisation table in the layout of the transform: natural order, each row repeated for four blocks side by side.
struct DequantTable {
  explicit DequantTable(const QuantTable& zigzag);
  alignas(64) std::array<std::int16_t, kBlockSize * 4> rows;
};

// The blocks in.blocks[order[0 .. count - 1]] side by side, written from `samples` on, eight rows `stride` bytes apart.
// Reads and writes up to three blocks beyond: order[count .. count + 2] must name blocks too, and the rows have room.
void inverse_dct(const Coefficients& in, const std::uint32_t* order, std::size_t count, const DequantTable& table,
                 std::uint8_t* samples, std::size_t stride);

}  // namespace fullbore::jpeg
