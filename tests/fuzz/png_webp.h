// What the harnesses of PNG and WebP share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "feed/image/decoder.h"

// Reads the size, and if it is a small one decodes a part of the picture into memory of just that size.
inline void decode_a_part(fullbore::image::Decoder& decoder, std::span<const std::uint8_t> file) {
  using namespace fullbore::image;
  if (!decoder.recognises(file)) return;
  const auto size = decoder.read_size(file);
  if (!size || std::uint64_t{size->width} * size->height > 1 << 16) return;
  const Rect window{size->width / 3, size->height / 4, (size->width + 1) / 2, (size->height + 1) / 2};
  const DecodeJob job{.window = window, .resized = {11, 7}, .flip = true};
  const auto pixels = std::make_unique<std::uint8_t[]>(11 * 7 * 3);
  (void)decoder.decode(file, job, {pixels.get(), 11 * 3});
}
