// How a camera was held, as it says in the file: the tag "orientation" of EXIF in a JPEG, PNG or WebP.
#pragma once

#include <cstdint>
#include <span>

namespace fullbore::image {

// 1 to 8 as EXIF has them; 1, upright, where the file says nothing that can be read. Every length is checked against
// the file. Of JPEGs the first APP1 segment with EXIF is taken; XMP is not read.
int exif_orientation(std::span<const std::uint8_t> file);

}  // namespace fullbore::image
