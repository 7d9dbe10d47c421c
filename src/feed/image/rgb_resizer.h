// Resampling of RGB pixels that lie in memory, for the formats that are decoded whole; the arithmetic is the JPEG
// decoder's.
#pragma once

#include "feed/image/decoder.h"
#include "feed/jpeg/resize.h"

namespace fullbore::image {

class RgbResizer {
 public:
  // `pixels` is the whole picture, rows of `width` pixels without gaps; job.window lies inside.
  void run(const std::uint8_t* pixels, std::uint32_t width, const DecodeJob& job, RgbTarget target);

 private:
  jpeg::Resizer resizer_;
};

}  // namespace fullbore::image
