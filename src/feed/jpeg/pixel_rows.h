// Rows of finished channels out of component planes: upsampling, then colour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feed/jpeg/color.h"
#include "feed/jpeg/planes.h"
#include "feed/jpeg/upsample.h"

namespace fullbore::jpeg {

// 3 for gray, YCbCr and RGB pictures, 4 for CMYK and YCCK.
std::uint32_t channels_of(const Frame& frame);

class PixelRows {
 public:
  static constexpr std::size_t kPad = 64 + 4;  // bytes a row must have more than the window is wide

  PixelRows(const Frame& frame, const PlaneDecoder& planes, const Rect& window, Upsampler& upsampler)
      : frame_(frame), planes_(planes), window_(window), upsampler_(upsampler) {}

  // Row `y` of the picture into `rows`, which have room for the window's width + kPad each. Returns where the window
  // begins in them; a gray picture gives the same row three times.
  ChannelRows make(std::uint32_t y, const ChannelRows& rows);

 private:
  void component_row(std::size_t index, std::uint32_t y, std::uint32_t x0, std::uint8_t* out);

  const Frame& frame_;
  const PlaneDecoder& planes_;
  Rect window_;
  Upsampler& upsampler_;
};

}  // namespace fullbore::jpeg
