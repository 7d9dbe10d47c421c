#include "feed/image/exif.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "feed/image/upright.h"

namespace fullbore::image {
namespace {

using namespace std::string_literals;

std::string tiff(bool little, char orientation) {
  const std::string head = little ? "II*\0\x08\0\0\0"s : "MM\0*\0\0\0\x08"s;
  // Two entries; the second one is the orientation, a short.
  const std::string count = little ? "\x02\0"s : "\0\x02"s;
  const std::string other = little ? "\x0f\x01\x03\0\x01\0\0\0\x05\0\0\0"s : "\x01\x0f\0\x03\0\0\0\x01\0\x05\0\0"s;
  const std::string mine = little ? "\x12\x01\x03\0\x01\0\0\0"s + orientation + "\0\0\0"s
                                  : "\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0"s;
  return head + count + other + mine + "\0\0\0\0"s;
}

std::string big(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}
std::string segment(char marker, const std::string& data) {
  return "\xff"s + marker + big(data.size() + 2, 2) + data;
}
std::string jpeg(const std::string& exif) {
  return "\xff\xd8"s + segment('\xe0', "JFIF\0"s) + "\xff"s + segment('\xe1', "http://ns.adobe.com/xap/1.0/\0"s) +
         segment('\xe1', "Exif\0\0"s + exif) + segment('\xda', "..."s);
}
std::string png(const std::string& exif) {
  const std::string chunk = big(exif.size(), 4) + "eXIf" + exif + "CRC.";
  return "\x89PNG\r\n\x1a\n"s + big(1, 4) + "IHDR.CRC." + chunk;
}
std::string webp(const std::string& exif) {
  return "RIFF....WEBPVP8X\x01\0\0\0.\0EXIF"s + static_cast<char>(exif.size()) + "\0\0\0"s + exif;
}

int orientation_of(const std::string& file) {
  return exif_orientation({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

TEST(ExifTest, AllOrientationsAreReadInEveryFormatAndByteOrder) {
  for (char orientation = 1; orientation <= 8; ++orientation) {
    for (const bool little : {false, true}) {
      const std::string exif = tiff(little, orientation);
      EXPECT_EQ(orientation_of(jpeg(exif)), orientation);
      EXPECT_EQ(orientation_of(png(exif)), orientation);
      EXPECT_EQ(orientation_of(webp(exif)), orientation);
      EXPECT_EQ(orientation_of(webp("Exif\0\0"s + exif)), orientation);
    }
  }
}

TEST(ExifTest, WhatCannotBeReadIsUpright) {
  EXPECT_EQ(orientation_of(jpeg(tiff(true, 0))), 1);
  EXPECT_EQ(orientation_of(jpeg(tiff(true, 9))), 1);
  EXPECT_EQ(orientation_of(jpeg("II*\0\xff\xff\xff\xff"s)), 1);
  EXPECT_EQ(orientation_of("\xff\xd8"s + segment('\xda', "..."s) + segment('\xe1', "Exif\0\0"s + tiff(true, 6))), 1);
  EXPECT_EQ(orientation_of("GIF89a"s), 1);
  std::string wrong_type = tiff(true, 6);
  wrong_type[8 + 2 + 12 + 2] = 2;
  EXPECT_EQ(orientation_of(jpeg(wrong_type)), 1);
}

TEST(ExifTest, AFileCutAnywhereIsReadNoFurther) {
  for (const std::string& file : {jpeg(tiff(false, 6)), png(tiff(false, 6)), webp(tiff(false, 6))}) {
    for (std::size_t length = 0; length < file.size(); ++length) {
      // Memory of its own, so that a sanitizer sees a byte too many.
      const std::vector<std::uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_TRUE(exif_orientation(cut) == 1 || exif_orientation(cut) == 6);
    }
  }
}

TEST(UprightTest, AWindowOfTheUprightPictureIsFoundInTheStoredOne) {
  const Size stored{70, 50};
  std::vector<std::uint8_t> pixels(3 * 70 * 50);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  const auto cut = [](const std::vector<std::uint8_t>& from, std::uint32_t width, const Rect& part) {
    std::vector<std::uint8_t> result;
    for (std::uint32_t y = part.y; y < part.y + part.height; ++y) {
      const auto row = from.begin() + 3 * (y * width + part.x);
      result.insert(result.end(), row, row + 3 * part.width);
    }
    return result;
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Turn turn = Turn::of(orientation);
    std::vector<std::uint8_t> upright(pixels.size());
    turn_upright(turn, pixels.data(), stored, upright.data());
    const Rect window{3, 5, 40, 33}, found = turn.stored(window, stored);
    const auto part = cut(pixels, stored.width, found);
    std::vector<std::uint8_t> turned(part.size());
    turn_upright(turn, part.data(), {found.width, found.height}, turned.data());
    EXPECT_EQ(turned, cut(upright, turn.size(stored).width, window)) << orientation;
  }
}

}  // namespace
}  // namespace fullbore::image
