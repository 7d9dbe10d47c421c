// Which part of a picture is seen, and how large it becomes. Drawn from the picture's size alone, before anything is
// decoded, so that a decoder can leave out the rest.
#pragma once

#include <string>

#include "feed/image/philox.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

// `window` of the picture is resized to `resized`; `kept` of that is the result.
struct View {
  Rect window;
  Size resized;
  Rect kept;
};

// Of what view_of() keeps.
Size kept_size(const Geometry& geometry);

// For a picture of `size`, which is not empty.
View view_of(const Geometry& geometry, Size size, const SampleRandom& random);

// The distribution of torchvision's RandomResizedCrop.get_params: ten tries at an area and the logarithm of a ratio,
// both uniform, then the largest centred part of a ratio that is allowed.
Rect random_crop(const RandomResizedCrop& crop, Size size, const SampleRandom& random);

// Empty if no view of this kind can be made; else why not.
std::string unusable(const Geometry& geometry);

}  // namespace fullbore::image
