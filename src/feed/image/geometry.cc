#include "feed/image/geometry.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "feed/image/portable_math.h"

namespace fullbore::image {
namespace {

constexpr int kTries = 10;

// Python's round: ties go to the even neighbour.
std::uint32_t rounded(double x) {
  return static_cast<std::uint32_t>(std::nearbyint(x));
}

Rect centred(Size inner, Size outer) {
  return {(outer.width - inner.width) / 2, (outer.height - inner.height) / 2, inner.width, inner.height};
}

// torchvision's CenterCrop rounds the half, where RandomResizedCrop's fallback cuts it.
Rect centred_rounding(Size inner, Size outer) {
  return {rounded((outer.width - inner.width) / 2.0), rounded((outer.height - inner.height) / 2.0), inner.width,
          inner.height};
}

Rect largest_allowed(const RandomResizedCrop& crop, Size size) {
  const double width = size.width, height = size.height, ratio = width / height;
  if (ratio < crop.ratio_min) return centred({size.width, std::max(1u, rounded(width / crop.ratio_min))}, size);
  if (ratio > crop.ratio_max) return centred({std::max(1u, rounded(height * crop.ratio_max)), size.height}, size);
  return {0, 0, size.width, size.height};
}

Size resized_of(const ResizeCenterCrop& eval, Size size) {
  if (eval.shorter_side == 0) return eval.resized;
  const auto longer = [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(std::uint64_t{eval.shorter_side} * a / b);
  };
  if (size.width <= size.height) return {eval.shorter_side, longer(size.height, size.width)};
  return {longer(size.width, size.height), eval.shorter_side};
}

}  // namespace

Size kept_size(const Geometry& geometry) {
  if (const auto* crop = std::get_if<RandomResizedCrop>(&geometry)) return crop->size;
  return std::get<ResizeCenterCrop>(geometry).crop;
}

Rect random_crop(const RandomResizedCrop& crop, Size size, const SampleRandom& random) {
  const double area = static_cast<double>(size.width) * size.height;
  const double log_min = portable_log(crop.ratio_min), log_max = portable_log(crop.ratio_max);
  for (int i = 0; i < kTries; ++i) {
    const PhiloxBlock numbers = random.block(Draw::kCrop, static_cast<std::uint64_t>(i));
    const double target = area * (crop.scale_min + (crop.scale_max - crop.scale_min) * to_unit(numbers[0]));
    const double ratio = portable_exp(log_min + (log_max - log_min) * to_unit(numbers[1]));
    const std::uint32_t width = rounded(std::sqrt(target * ratio)), height = rounded(std::sqrt(target / ratio));
    if (width == 0 || height == 0 || width > size.width || height > size.height) continue;
    const auto x = to_range(numbers[2], size.width - width + 1), y = to_range(numbers[3], size.height - height + 1);
    return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), width, height};
  }
  return largest_allowed(crop, size);
}

View view_of(const Geometry& geometry, Size size, const SampleRandom& random) {
  if (const auto* crop = std::get_if<RandomResizedCrop>(&geometry))
    return {random_crop(*crop, size, random), crop->size, {0, 0, crop->size.width, crop->size.height}};
  const auto& eval = std::get<ResizeCenterCrop>(geometry);
  const Size resized = resized_of(eval, size);
  return {{0, 0, size.width, size.height}, resized, centred_rounding(eval.crop, resized)};
}

std::string unusable(const Geometry& geometry) {
  const Size out = kept_size(geometry);
  if (out.width == 0 || out.height == 0 || out.width > 16'384 || out.height > 16'384)
    return fmt::format("pictures of {} x {}; 1 to 16384 can be made", out.height, out.width);
  if (const auto* crop = std::get_if<RandomResizedCrop>(&geometry)) {
    if (!(crop->scale_min > 0 && crop->scale_min <= crop->scale_max && crop->scale_max <= 1))
      return fmt::format("a scale of ({}, {}); it is a part of the area, 0 < low <= high <= 1", crop->scale_min,
                         crop->scale_max);
    if (!(crop->ratio_min >= 0.01 && crop->ratio_min <= crop->ratio_max && crop->ratio_max <= 100))
      return fmt::format("a ratio of ({}, {}); it is width / height, 0.01 <= low <= high <= 100", crop->ratio_min,
                         crop->ratio_max);
    return {};
  }
  const auto& eval = std::get<ResizeCenterCrop>(geometry);
  const Size least = eval.shorter_side == 0 ? eval.resized : Size{eval.shorter_side, eval.shorter_side};
  if (out.width > least.width || out.height > least.height)
    return fmt::format("a centre of {} x {} out of pictures resized to {} x {} at least; resize to more, or crop less",
                       out.height, out.width, least.height, least.width);
  return {};
}

}  // namespace fullbore::image
