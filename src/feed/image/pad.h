// Borders around a picture of 8-bit RGB.
#pragma once

#include <cstdint>
#include <string>

#include "fullbore/image_loader.h"

namespace fullbore::image {

Size padded_size(const Pad& pad, Size size);

// `from` is a picture of `size`, `to` has room for padded_size(); both without gaps.
void add_borders(const Pad& pad, const std::uint8_t* from, Size size, std::uint8_t* to);

// Empty if a picture of `size` can get them; else why not.
std::string unusable(const Pad& pad, Size size);

}  // namespace fullbore::image
