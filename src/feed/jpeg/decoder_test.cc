#include <gmock/gmock.h>
#include <hwy/targets.h>

#include <algorithm>

#include "feed/jpeg/testing/pictures.h"
#include "feed/jpeg/turbo.h"
#include "fullbore/jpeg.h"

namespace fullbore::jpeg {
namespace {

using testing::encode;
using testing::Encoding;
using ::testing::HasSubstr;
using testing::random_encoding;

Picture cut(const Picture& whole, const Rect& window) {
  Picture result{window.width, window.height, whole.channels, {}};
  for (std::uint32_t y = 0; y < window.height; ++y) {
    const auto from = whole.pixels.begin() + static_cast<std::ptrdiff_t>(
                                                 (std::size_t{window.y + y} * whole.width + window.x) * whole.channels);
    result.pixels.insert(result.pixels.end(), from, from + static_cast<std::ptrdiff_t>(window.width * whole.channels));
  }
  return result;
}

Rect random_window(std::mt19937& random, std::uint32_t width, std::uint32_t height) {
  const auto draw = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  Rect window;
  window.width = draw(1, width);
  window.height = draw(1, height);
  window.x = draw(0, width - window.width);
  window.y = draw(0, height - window.height);
  return window;
}

::testing::AssertionResult same(const Expected<Picture>& own, const Picture& expected) {
  if (!own) return ::testing::AssertionFailure() << "refused: " << own.error().message;
  if (own->width != expected.width || own->height != expected.height || own->channels != expected.channels) {
    return ::testing::AssertionFailure() << "a picture of another shape";
  }
  const auto [a, b] = std::ranges::mismatch(own->pixels, expected.pixels);
  if (a == own->pixels.end()) return ::testing::AssertionSuccess();
  const auto at = static_cast<std::size_t>(a - own->pixels.begin());
  const std::size_t pixel = at / expected.channels;
  return ::testing::AssertionFailure() << "pixel " << pixel % expected.width << ", " << pixel / expected.width
                                       << " channel " << at % expected.channels << ": " << int{*a} << " instead of "
                                       << int{*b};
}

TEST(DecoderTest, HasThePixelsOfLibjpegTurbo) {
  std::mt19937 random(1);
  Decoder decoder;
  for (int i = 0; i < 300; ++i) {
    const Encoding encoding = random_encoding(random, i < 200 ? 90 : 400);
    SCOPED_TRACE(describe(encoding));
    const auto file = encode(encoding);
    ASSERT_TRUE(read_header(file)->native);
    const auto expected = decode_by_turbo(file, false);
    ASSERT_TRUE(expected) << expected.error().message;
    ASSERT_TRUE(same(decoder.decode(file), *expected));
    for (int w = 0; w < 3; ++w) {
      const Rect window = random_window(random, encoding.width, encoding.height);
      ASSERT_TRUE(same(decoder.decode(file, {.window = window}), cut(*expected, window)))
          << "window " << window.x << ", " << window.y << " " << window.width << "x" << window.height;
    }
  }
}

TEST(DecoderTest, CheckpointsDoNotChangePixels) {
  std::mt19937 random(2);
  Decoder decoder;
  for (int i = 0; i < 200; ++i) {
    Encoding encoding = random_encoding(random, i < 150 ? 200 : 500);
    encoding.separate_scans = false;
    SCOPED_TRACE(describe(encoding));
    const auto file = encode(encoding);
    const auto expected = decode_by_turbo(file, false);
    Checkpoints made;
    const Rect first = random_window(random, encoding.width, encoding.height);
    ASSERT_TRUE(same(decoder.decode(file, {.window = first, .record = &made}), cut(*expected, first)));
    ASSERT_FALSE(made.empty());
    const auto kept = Checkpoints::parse(made.serialise());
    ASSERT_TRUE(kept) << kept.error().message;
    ASSERT_TRUE(same(decoder.decode(file, {.checkpoints = &*kept}), *expected));
    for (int w = 0; w < 3; ++w) {
      const Rect window = random_window(random, encoding.width, encoding.height);
      ASSERT_TRUE(same(decoder.decode(file, {.window = window, .checkpoints = &*kept}), cut(*expected, window)))
          << "window " << window.x << ", " << window.y << " " << window.width << "x" << window.height;
    }
  }
}

// Every kind of processor that this one can stand in for, and the portable code.
TEST(DecoderTest, EveryInstructionSetGivesTheSameBytes) {
  std::mt19937 random(3);
  Decoder decoder;
  const std::int64_t all = hwy::SupportedTargets();
  for (int i = 0; i < 60; ++i) {
    const Encoding encoding = random_encoding(random, 160);
    SCOPED_TRACE(describe(encoding));
    const auto file = encode(encoding);
    const auto expected = decode_by_turbo(file, false);
    const DecodeOptions small{.resize =
                                  Resize{{1 + i % 40u, 31}, i % 2 ? Filter::kBicubic : Filter::kBilinear, i % 3 == 0}};
    const auto resized = decoder.decode(file, small);
    for (std::int64_t left = all; left != 0; left &= left - 1) {
      hwy::GetChosenTarget().Update(left & -left);
      EXPECT_TRUE(same(decoder.decode(file), *expected)) << hwy::TargetName(left & -left);
      EXPECT_TRUE(same(decoder.decode(file, small), *resized)) << hwy::TargetName(left & -left);
    }
    hwy::GetChosenTarget().Update(all);
  }
}

TEST(DecoderTest, AFileCutAtAnyByteIsRefused) {
  const auto file = encode({.width = 61, .height = 45, .quality = 40, .noise = 5});
  Decoder decoder;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const auto cut_short = std::span(file).first(length);
    EXPECT_FALSE(decoder.decode(cut_short)) << "cut at " << length << " of " << file.size();
  }
}

TEST(DecoderTest, ProgressiveAndArithmeticPicturesAreDecodedByLibjpegTurbo) {
  Decoder decoder;
  for (const Encoding& encoding : {Encoding{.progressive = true}, Encoding{.arithmetic = true}}) {
    const auto file = encode(encoding);
    EXPECT_FALSE(read_header(file)->native);
    const auto expected = decode_by_turbo(file, false);
    const Rect window{3, 5, 40, 20};
    EXPECT_TRUE(same(decoder.decode(file, {.window = window}), cut(*expected, window)));
  }
}

TEST(DecoderTest, ASequentialScanWithProgressiveParametersIsRefused) {
  auto file = encode({});
  const std::uint8_t scan[] = {0xff, 0xda, 0, 12};
  const auto at = std::ranges::search(file, scan).begin();
  at[11] = 1;  // the scan claims to begin at the first AC coefficient
  EXPECT_THAT(Decoder().decode(file).error().message, HasSubstr("parameters of a progressive one"));
  EXPECT_TRUE(Decoder().decode(file, {.tolerant = true}));
}

TEST(DecoderTest, AWindowOutsideThePictureIsRefused) {
  const auto file = encode({.width = 20, .height = 10});
  for (const Rect& window : {Rect{20, 0, 1, 1}, Rect{0, 0, 0, 1}, Rect{1, 0, 20, 10}, Rect{0, ~0u, 1, 2}}) {
    EXPECT_EQ(Decoder().decode(file, {.window = window}).error().kind, ErrorKind::kArgument);
  }
}

TEST(DecoderTest, TolerantDecodingGivesWhatLibjpegTurboMakesOfADamagedFile) {
  auto file = encode({.width = 61, .height = 45});
  file.resize(file.size() / 2);
  EXPECT_FALSE(Decoder().decode(file));
  EXPECT_TRUE(same(Decoder().decode(file, {.tolerant = true}), *decode_by_turbo(file, true)));
}

}  // namespace
}  // namespace fullbore::jpeg
