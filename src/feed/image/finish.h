// The last step without a GPU: from 8-bit RGB pixels to the type and layout that a model takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fullbore/image_loader.h"

namespace fullbore::image {

std::size_t bytes_per_value(DType dtype);

// What torchvision's v2.ToDtype(float32, scale=True) and v2.Normalize give, operation for operation, so to the last
// bit; kFloat16 and kBfloat16 are that, rounded to the nearest even. `count` pixels of `rgb` are written to `out`
// without gaps.
void finish(const std::uint8_t* rgb, std::size_t count, const TransformOptions& options, std::byte* out);

// `count` values as `dtype`, which is not kUint8; rounded to the nearest even.
void store_values(const float* values, std::size_t count, DType dtype, std::byte* out);

}  // namespace fullbore::image
