#include "feed/jpeg/pixel_rows.h"

#include <algorithm>

namespace fullbore::jpeg {

std::uint32_t channels_of(const Frame& frame) {
  return frame.component_count == 4 ? 4 : 3;
}

void PixelRows::component_row(std::size_t index, std::uint32_t y, std::uint32_t x0, std::uint8_t* out) {
  const Component& component = frame_.components[index];
  const Upsampling kind = upsampling_of(frame_, component);
  const std::uint32_t across = frame_.max_h / component.h, down = frame_.max_v / component.v;
  const std::uint32_t left = x0 / across;
  const std::uint32_t right = std::min((window_.x + window_.width + across - 1) / across, component.width);
  const std::uint32_t nearer = y / down;
  SampleRow row;
  row.below = down == 2 && y % 2 == 1;
  const std::uint32_t further = row.below ? std::min(nearer + 1, component.height - 1) : std::max(nearer, 1u) - 1;
  const bool vertical = kind == Upsampling::kH1V2 || kind == Upsampling::kH2V2;
  row.nearer = planes_.plane(index).at_sample(left, nearer);
  row.further = vertical ? planes_.plane(index).at_sample(left, further) : row.nearer;
  row.count = right - left;
  row.at_left_edge = left == 0;
  row.at_right_edge = right == component.width;
  upsampler_.run(kind, row, across, out);
}

ChannelRows PixelRows::make(std::uint32_t y, const ChannelRows& rows) {
  const std::uint32_t x0 = window_.x / frame_.max_h * frame_.max_h;
  const std::size_t width = window_.x - x0 + window_.width;
  for (std::size_t i = 0; i < frame_.component_count; ++i) component_row(i, y, x0, rows[i]);
  if (frame_.color == ColorModel::kYcc) ycc_to_rgb(rows, width);
  if (frame_.color == ColorModel::kYcck) ycc_to_cmy(rows, width);
  ChannelRows window = rows;
  if (frame_.color == ColorModel::kGray) window[1] = window[2] = window[0];
  for (std::uint8_t*& row : window) {
    if (row) row += window_.x - x0;
  }
  return window;
}

}  // namespace fullbore::jpeg
