#include "feed/image/rgb_resizer.h"

namespace fullbore::image {

void RgbResizer::run(const std::uint8_t* pixels, std::uint32_t width, const DecodeJob& job, RgbTarget target) {
  const Rect& window = job.window;
  const std::size_t bytes = target.stride * (job.resized.height - 1) + std::size_t{job.resized.width} * 3;
  resizer_.begin({window.width, window.height}, {job.resized, job.filter, job.flip}, 3, {target.pixels, bytes},
                 target.stride);
  for (std::uint32_t y = 0; y < window.height; ++y) {
    const std::uint8_t* from = pixels + (std::size_t{window.y + y} * width + window.x) * 3;
    const jpeg::ChannelRows planes = resizer_.next_rows();
    for (std::size_t x = 0; x < window.width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) planes[c][x] = *from++;
    }
    resizer_.add(planes);
  }
}

}  // namespace fullbore::image
