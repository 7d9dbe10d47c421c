// Pictures whose file says that the camera was held otherwise: their window is decoded as it is stored, turned, and
// then resized. Turning first costs memory for the window, and gives the bytes that resizing the upright picture gives.
#pragma once

#include <vector>

#include "feed/image/decoder.h"
#include "feed/image/rgb_resizer.h"

namespace fullbore::image {

// How a stored picture becomes upright: EXIF's eight cases. Mirrored as it is stored, then rows become columns.
struct Turn {
  bool mirrors_x = false, mirrors_y = false, transposes = false;

  static Turn of(int orientation);
  bool is_none() const { return !mirrors_x && !mirrors_y && !transposes; }
  // Of the upright picture, from what is stored, and the other way round.
  Size size(Size size) const;
  // A part of the upright picture, where it is in the picture of `stored` size.
  Rect stored(const Rect& part, Size stored) const;
};

// `pixels` of `stored` size, 8-bit RGB without gaps, are written upright to `out`.
void turn_upright(const Turn& turn, const std::uint8_t* pixels, Size stored, std::uint8_t* out);

// Belongs to one thread.
class UprightDecoder {
 public:
  // As Decoder::decode() of a picture of `stored` size; job.window is a part of the upright picture.
  base::Expected<void> decode(Decoder& decoder, std::span<const std::uint8_t> file, const DecodeJob& job,
                              const Turn& turn, Size stored, RgbTarget target);

 private:
  std::vector<std::uint8_t> stored_, upright_;
  RgbResizer resizer_;
};

}  // namespace fullbore::image
