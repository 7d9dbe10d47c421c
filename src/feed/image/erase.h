// A rectangle of a picture overwritten: where it is, and with what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "feed/image/philox.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

// The distribution of torchvision's RandomErasing: with probability `p` ten tries at an area and the logarithm of a
// ratio, both uniform; none where no try is smaller than the picture. `which` counts the erasings of a pipeline.
std::optional<Rect> draw_rectangle(const RandomErasing& erasing, Size size, const SampleRandom& random,
                                   std::uint64_t which);

// Of 8-bit RGB of `size` without gaps; erasing.value must be there.
void erase_rgb(const RandomErasing& erasing, const Rect& part, Size size, std::uint8_t* rgb);

// Of a finished picture, in its type and layout; without a value by normal numbers, another one for each pixel and
// colour.
void erase_finished(const RandomErasing& erasing, const Rect& part, Size size, const TransformOptions& finished,
                    const SampleRandom& random, std::byte* out);

// Empty if it can be done; else why not.
std::string unusable(const RandomErasing& erasing);

}  // namespace fullbore::image
