// JPEGs for tests, made on the spot by libjpeg-turbo from a picture that is a function of the seed: every size,
// sampling, table and restart interval that the decoder must serve.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fullbore::jpeg::testing {

enum class Color : std::uint8_t { kGray, kYcc, kRgb, kCmyk, kYcck };

struct Encoding {
  std::uint32_t width = 64;
  std::uint32_t height = 48;
  Color color = Color::kYcc;
  std::array<int, 2> luma = {2, 2};    // sampling factors of the first component
  std::array<int, 2> chroma = {1, 1};  // and of the others (of the fourth: those of the first)
  int quality = 90;
  int restart_interval = 0;  // MCUs
  bool optimised = false;    // Huffman tables made for the picture
  bool separate_scans = false;
  bool progressive = false;
  bool arithmetic = false;
  double noise = 20;  // standard deviation, grey levels
  std::uint32_t seed = 1;
};

std::string describe(const Encoding& encoding);
std::vector<std::uint8_t> encode(const Encoding& encoding);

// A draw from everything that the own decoder serves.
Encoding random_encoding(std::mt19937& random, std::uint32_t largest_side);

}  // namespace fullbore::jpeg::testing
