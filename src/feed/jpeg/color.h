// From component samples to channels, row by row, bit for bit as libjpeg-turbo; and from channels side by side to
// pixels. All functions read and write up to 64 bytes behind the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {

using ChannelRows = std::array<std::uint8_t*, 4>;

// Y, Cb, Cr in rows[0..2] become R, G, B (ITU-R BT.601 at full range, 16-bit fixed point).
void ycc_to_rgb(const ChannelRows& rows, std::size_t count);
// Y, Cb, Cr become C, M, Y: the complement of the above.
void ycc_to_cmy(const ChannelRows& rows, std::size_t count);
// `channels` is 3 or 4; writes exactly count * channels bytes.
void interleave(const ChannelRows& rows, std::size_t count, std::uint32_t channels, std::uint8_t* pixels);

}  // namespace fullbore::jpeg
