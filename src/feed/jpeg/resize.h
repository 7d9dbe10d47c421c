// Antialiased resampling of rows as they come: the horizontal pass over bands of 32 rows, turned on their side so that
// one vector holds the same column of many rows, then the vertical pass over rows of finished width. Exact as Pillow:
// 8 bits between the passes, sums in 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "feed/jpeg/color.h"
#include "feed/jpeg/resize_weights.h"

namespace fullbore::jpeg {

class Resizer {
 public:
  static constexpr std::size_t kBand = 32;  // rows

  // `pixels` has rows of `stride` bytes and must live until the last row was added.
  void begin(const Size& in, const Resize& resize, std::uint32_t channels, std::span<std::uint8_t> pixels,
             std::size_t stride);
  // Memory for the next row, in.width + PixelRows::kPad bytes per channel.
  ChannelRows next_rows();
  // The next row, at next_rows() or up to 4 bytes behind, the same distance for all rows. in.height times.
  void add(const ChannelRows& row);

 private:
  struct Source {
    const std::uint8_t* row[4] = {};
  };

  void finish_band();
  void turn_band();
  std::uint8_t* middle_row(std::size_t y) { return middle_.data() + y % middle_rows_ * middle_pitch_; }

  Size in_;
  Resize resize_;
  std::uint32_t channels_ = 0;
  std::span<std::uint8_t> pixels_;
  std::size_t stride_ = 0;
  AxisWeights across_, down_;

  std::size_t pitch_ = 0;               // of a row in band_
  std::vector<std::uint8_t> band_;      // [row][channel][x]
  Source source_;                       // first row of the band, per channel
  std::vector<std::uint8_t> turned_;    // [x][channel][row]
  std::vector<std::uint8_t> narrowed_;  // [out x][channel][row]
  std::vector<std::uint8_t> middle_;    // ring of rows, [y][out x][channel]
  std::size_t middle_rows_ = 0;
  std::size_t middle_pitch_ = 0;
  std::vector<std::uint8_t> out_row_;
  std::size_t added_ = 0;       // rows
  std::uint32_t finished_ = 0;  // output rows
};

}  // namespace fullbore::jpeg
