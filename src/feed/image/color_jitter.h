// Brightness, contrast, saturation and hue of a sample, and the order in which they are changed.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "feed/image/philox.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

enum class ColorChange : std::uint8_t { kBrightness, kContrast, kSaturation, kHue };

struct DrawnJitter {
  std::array<ColorChange, 4> order{};
  std::array<std::optional<double>, 4> factors;  // by ColorChange; none: left as it is
};

// The distribution of torchvision's ColorJitter: all 24 orders alike, factors uniform. `which` counts the jitters of a
// pipeline.
DrawnJitter draw_jitter(const ColorJitter& jitter, const SampleRandom& random, std::uint64_t which);

// `count` pixels of 8-bit RGB, in place.
void apply_jitter(const DrawnJitter& drawn, std::uint8_t* rgb, std::size_t count);

// Empty if it can be done; else why not.
std::string unusable(const ColorJitter& jitter);

}  // namespace fullbore::image
