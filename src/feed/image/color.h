// Brightness, contrast, saturation, hue and gray of 8-bit RGB, changed in place: what torchvision does to a picture of
// Pillow, to the last bit (ImageEnhance, and the hue of Pillow's HSV turned).
#pragma once

#include <cstddef>
#include <cstdint>

namespace fullbore::image {

// `count` pixels without gaps. A factor of 1 leaves them as they are, 0 is black, the mean gray, or gray.
void adjust_brightness(std::uint8_t* rgb, std::size_t count, float factor);
void adjust_contrast(std::uint8_t* rgb, std::size_t count, float factor);
void adjust_saturation(std::uint8_t* rgb, std::size_t count, float factor);
// By `turn` circles, -0.5 to 0.5.
void adjust_hue(std::uint8_t* rgb, std::size_t count, double turn);
// Pillow's weights of red, green and blue: 0.299, 0.587, 0.114 in 16 bits.
void make_gray(std::uint8_t* rgb, std::size_t count);

}  // namespace fullbore::image
