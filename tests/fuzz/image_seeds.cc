// Small PNGs of every kind of pixel, WebPs of every coding, and EXIF with an orientation.
#include <webp/encode.h>
#include <zlib.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kTiff[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};

void append(Bytes& file, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<std::uint8_t>(number >> shift));
}

void append_chunk(Bytes& file, std::string_view kind, const Bytes& data) {
  append(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = file.size();
  file.insert(file.end(), kind.begin(), kind.end());
  file.insert(file.end(), data.begin(), data.end());
  append(file, static_cast<std::uint32_t>(::crc32(0, &file[begin], static_cast<unsigned>(data.size() + 4))));
}

Bytes png(std::uint8_t colour, std::uint8_t depth, bool interlaced) {
  constexpr std::uint8_t kPalette = 3;
  Bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  append_chunk(file, "IHDR", {0, 0, 0, 19, 0, 0, 0, 13, depth, colour, 0, 0, interlaced});
  if (colour == kPalette) append_chunk(file, "PLTE", {1, 2, 3, 40, 50, 60});
  if (colour == kPalette) append_chunk(file, "tRNS", {9});
  append_chunk(file, "eXIf", Bytes(std::begin(kTiff), std::end(kTiff)));
  // Rows begin with the number of a filter; more bytes than any kind needs.
  Bytes rows(19 * 13 * 8 + 200);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % 7 == 3;
  Bytes packed(::compressBound(rows.size()));
  uLongf length = packed.size();
  ::compress(packed.data(), &length, rows.data(), rows.size());
  packed.resize(length);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", {});
  return file;
}

Bytes webp(bool lossless, int channels) {
  constexpr int kWidth = 37, kHeight = 21;
  Bytes pixels(static_cast<std::size_t>(kWidth * kHeight * channels));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i / 31);
  std::uint8_t* made = nullptr;
  const int stride = kWidth * channels;
  std::size_t size = 0;
  if (channels == 4) {
    size = lossless ? WebPEncodeLosslessRGBA(pixels.data(), kWidth, kHeight, stride, &made)
                    : WebPEncodeRGBA(pixels.data(), kWidth, kHeight, stride, 60, &made);
  } else {
    size = lossless ? WebPEncodeLosslessRGB(pixels.data(), kWidth, kHeight, stride, &made)
                    : WebPEncodeRGB(pixels.data(), kWidth, kHeight, stride, 60, &made);
  }
  Bytes file(made, made + size);
  WebPFree(made);
  return file;
}

}  // namespace

std::vector<Bytes> make_seeds() {
  std::vector<Bytes> seeds;
  struct Kind {
    std::uint8_t colour;
    std::vector<std::uint8_t> depths;
  };
  for (const Kind& kind :
       {Kind{0, {1, 2, 4, 8, 16}}, Kind{2, {8, 16}}, Kind{3, {1, 2, 4, 8}}, Kind{4, {8, 16}}, Kind{6, {8, 16}}}) {
    for (const std::uint8_t depth : kind.depths) {
      for (const bool interlaced : {false, true}) seeds.push_back(png(kind.colour, depth, interlaced));
    }
  }
  for (const bool lossless : {false, true}) {
    for (const int channels : {3, 4}) seeds.push_back(webp(lossless, channels));
  }
  seeds.emplace_back(std::begin(kTiff), std::end(kTiff));
  return seeds;
}
