#include "feed/image/philox.h"

#include <gtest/gtest.h>

namespace fullbore::image {
namespace {

// The vectors that Random123 comes with.
TEST(PhiloxTest, GivesThePublishedNumbers) {
  EXPECT_EQ(philox4x64({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  EXPECT_EQ(philox4x64({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                       {0x452821e638d01377, 0xbe5466cf34e90c6c}),
            (PhiloxBlock{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(PhiloxTest, EveryPartOfThePlaceCountsInAllItsBits) {
  const SampleRandom base{1, 2, 3};
  const PhiloxBlock numbers = base.block(Draw::kCrop, 4);
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    EXPECT_NE((SampleRandom{1 ^ one, 2, 3}).block(Draw::kCrop, 4), numbers);
    EXPECT_NE((SampleRandom{1, 2 ^ one, 3}).block(Draw::kCrop, 4), numbers);
    EXPECT_NE((SampleRandom{1, 2, 3 ^ one}).block(Draw::kCrop, 4), numbers);
    EXPECT_NE(base.block(Draw::kCrop, 4 ^ one), numbers);
  }
  EXPECT_NE(base.block(Draw::kFlip, 4), numbers);
}

TEST(PhiloxTest, UnitAndRangeStayInside) {
  EXPECT_EQ(to_unit(0), 0.0);
  EXPECT_LT(to_unit(~std::uint64_t{0}), 1.0);
  EXPECT_EQ(to_range(0, 7), 0u);
  EXPECT_EQ(to_range(~std::uint64_t{0}, 7), 6u);
}

}  // namespace
}  // namespace fullbore::image
