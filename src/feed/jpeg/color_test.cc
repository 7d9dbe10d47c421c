#include "feed/jpeg/color.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace fullbore::jpeg {
namespace {

std::uint8_t clamp(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

// T.871, in the fixed point of jdcolor.c: 16 bits, rounded once per channel.
std::array<std::uint8_t, 3> reference(int y, int cb, int cr) {
  cb -= 128;
  cr -= 128;
  return {clamp(y + ((91881 * cr + 32768) >> 16)), clamp(y + ((-22554 * cb - 46802 * cr + 32768) >> 16)),
          clamp(y + ((116130 * cb + 32768) >> 16))};
}

TEST(ColorTest, EveryChromaPairIsConvertedExactly) {
  constexpr std::size_t kPad = 64;
  std::vector<std::uint8_t> y(256 + kPad), cb(256 + kPad), cr(256 + kPad);
  for (int blue = 0; blue < 256; ++blue) {
    for (int red = 0; red < 256; ++red) {
      for (std::size_t i = 0; i < 256; ++i) {
        y[i] = static_cast<std::uint8_t>(i);
        cb[i] = static_cast<std::uint8_t>(blue);
        cr[i] = static_cast<std::uint8_t>(red);
      }
      ycc_to_rgb({y.data(), cb.data(), cr.data(), nullptr}, 256);
      for (int i = 0; i < 256; i += 51) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_EQ((std::array{y[at], cb[at], cr[at]}), reference(i, blue, red)) << i << " " << blue << " " << red;
      }
    }
  }
}

TEST(ColorTest, InterleavesExactlyTheRowAndNothingBehind) {
  std::vector<std::uint8_t> rows[4];
  for (std::size_t c = 0; c < 4; ++c) {
    rows[c].resize(200);
    std::iota(rows[c].begin(), rows[c].end(), static_cast<std::uint8_t>(c * 50));
  }
  for (const std::uint32_t channels : {3u, 4u}) {
    for (const std::size_t count : {1u, 31u, 64u, 101u}) {
      std::vector<std::uint8_t> pixels(count * channels + 1, 0xee);
      interleave({rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data()}, count, channels, pixels.data());
      for (std::size_t i = 0; i < count * channels; ++i) ASSERT_EQ(pixels[i], rows[i % channels][i / channels]);
      EXPECT_EQ(pixels.back(), 0xee);
    }
  }
}

}  // namespace
}  // namespace fullbore::jpeg
