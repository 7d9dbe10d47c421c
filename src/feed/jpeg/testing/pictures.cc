#include "feed/jpeg/testing/pictures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

// jpeglib.h needs FILE and size_t before it.
#include <jpeglib.h>

namespace fullbore::jpeg::testing {
namespace {

int components_of(Color color) {
  if (color == Color::kGray) return 1;
  return color == Color::kCmyk || color == Color::kYcck ? 4 : 3;
}

// Waves of a few pixels to the whole width, with noise.
std::vector<std::uint8_t> paint(const Encoding& encoding, int channels) {
  std::mt19937 random(encoding.seed);
  std::normal_distribution<double> noise(0, encoding.noise + 1e-9);
  std::uniform_real_distribution<double> frequency(0.005, 0.4), phase(0, 6.3);
  std::vector<std::array<double, 4>> waves(static_cast<std::size_t>(channels));
  for (auto& wave : waves) wave = {frequency(random), frequency(random), phase(random), 40 + 60 * phase(random) / 6.3};
  std::vector<std::uint8_t> pixels;
  for (std::uint32_t y = 0; y < encoding.height; ++y) {
    for (std::uint32_t x = 0; x < encoding.width; ++x) {
      for (const auto& [a, b, offset, height] : waves) {
        const double value = 128 + height * std::sin(a * x + b * y + offset) + noise(random);
        pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  return pixels;
}

void choose_components(jpeg_compress_struct& info, const Encoding& encoding) {
  const int count = components_of(encoding.color);
  const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
  info.input_components = count;
  info.in_color_space = count == 1 ? JCS_GRAYSCALE : count == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, spaces[static_cast<int>(encoding.color)]);
  for (int i = 0; i < count; ++i) {
    const auto& factors = i == 0 || i == 3 ? encoding.luma : encoding.chroma;
    info.comp_info[i].h_samp_factor = factors[0];
    info.comp_info[i].v_samp_factor = factors[1];
  }
}

}  // namespace

std::string describe(const Encoding& e) {
  return fmt::format("{}x{} color {} luma {}x{} chroma {}x{} quality {} restart {}{}{}{}{} noise {} seed {}", e.width,
                     e.height, static_cast<int>(e.color), e.luma[0], e.luma[1], e.chroma[0], e.chroma[1], e.quality,
                     e.restart_interval, e.optimised ? " optimised" : "", e.separate_scans ? " separate" : "",
                     e.progressive ? " progressive" : "", e.arithmetic ? " arithmetic" : "", e.noise, e.seed);
}

std::vector<std::uint8_t> encode(const Encoding& encoding) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);  // ends the program: what tests ask for can be encoded
  jpeg_create_compress(&info);
  unsigned char* file = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &file, &size);
  info.image_width = encoding.width;
  info.image_height = encoding.height;
  choose_components(info, encoding);
  jpeg_set_quality(&info, encoding.quality, FALSE);
  info.optimize_coding = encoding.optimised ? TRUE : FALSE;
  info.arith_code = encoding.arithmetic ? TRUE : FALSE;
  info.restart_interval = static_cast<unsigned>(encoding.restart_interval);
  std::vector<jpeg_scan_info> scans;
  for (int i = 0; encoding.separate_scans && i < info.num_components; ++i) scans.push_back({1, {i}, 0, 63, 0, 0});
  if (!scans.empty()) {
    info.scan_info = scans.data();
    info.num_scans = static_cast<int>(scans.size());
  }
  if (encoding.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const int channels = info.input_components;
  std::vector<std::uint8_t> pixels = paint(encoding, channels);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() +
                   static_cast<std::size_t>(info.next_scanline) * encoding.width * static_cast<std::size_t>(channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<std::uint8_t> result(file, file + size);
  std::free(file);
  return result;
}

Encoding random_encoding(std::mt19937& random, std::uint32_t largest_side) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Encoding e;
  e.width = static_cast<std::uint32_t>(draw(1, static_cast<int>(largest_side)));
  e.height = static_cast<std::uint32_t>(draw(1, static_cast<int>(largest_side)));
  const int color = draw(0, 9);
  e.color = color < 6 ? Color::kYcc : static_cast<Color>(color < 7 ? 0 : color - 6 == 1 ? 2 : color - 5);
  static constexpr int kSamplings[][4] = {{2, 2, 1, 1}, {2, 2, 1, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}, {1, 2, 1, 1},
                                          {4, 1, 1, 1}, {2, 2, 1, 2}, {2, 2, 2, 1}, {1, 1, 2, 2}, {4, 2, 1, 1},
                                          {3, 1, 1, 1}, {1, 3, 1, 1}, {3, 1, 3, 1}};
  const auto& sampling = kSamplings[draw(0, e.color == Color::kYcc ? 12 : e.color == Color::kGray ? 11 : 4)];
  e.luma = {sampling[0], sampling[1]};
  e.chroma = {sampling[2], sampling[3]};
  e.quality = draw(1, 100);
  if (draw(0, 3) == 0) e.restart_interval = draw(1, 40);
  e.optimised = draw(0, 1) == 1;
  e.separate_scans = draw(0, 7) == 0;
  e.noise = draw(0, 60);
  e.seed = static_cast<std::uint32_t>(draw(0, 1 << 30));
  return e;
}

}  // namespace fullbore::jpeg::testing
