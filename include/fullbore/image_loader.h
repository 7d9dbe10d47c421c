// Batches of pictures for training, made by threads of C++ from files: read, decode, crop, resize, flip, normalise.
// Which picture stands where, its crop and its flip are functions of (seed, epoch, sample), so batches are equal to the
// last byte for any number of threads, any depth and any place a run was resumed at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fullbore/jpeg.h"

namespace fullbore::image {

using jpeg::Filter;
using jpeg::Rect;
using jpeg::Size;

// What happens to samples that cannot be shared evenly among the ranks.
enum class Uneven : std::uint8_t {
  kPad,   // the first ones of the epoch come again
  kDrop,  // they are left out
};

struct PlanOptions {
  std::uint32_t batch_size = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  bool drop_last = true;  // a last batch that is not full
  Uneven uneven = Uneven::kPad;
};

// A part of 8 to 100 % of the picture, of another shape, made `size`: torchvision's RandomResizedCrop.
struct RandomResizedCrop {
  Size size{224, 224};
  double scale_min = 0.08;  // of the area
  double scale_max = 1.0;
  double ratio_min = 3.0 / 4.0;  // width / height
  double ratio_max = 4.0 / 3.0;
};

// The picture resized as a whole, then its centre: torchvision's Resize and CenterCrop.
struct ResizeCenterCrop {
  std::uint32_t shorter_side = 0;  // after resizing; 0: to `resized` whatever its shape
  Size resized;
  Size crop{224, 224};
};

}  // namespace fullbore::image
