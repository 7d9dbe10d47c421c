#include "feed/image/decoder.h"

#include <algorithm>
#include <array>

namespace fullbore::image {

std::vector<std::unique_ptr<Decoder>> make_decoders(CheckpointStore& checkpoints) {
  std::vector<std::unique_ptr<Decoder>> decoders;
  decoders.push_back(make_jpeg_decoder(checkpoints));
  decoders.push_back(make_png_decoder());
  decoders.push_back(make_webp_decoder());
  return decoders;
}

std::optional<std::string_view> picture_extension(std::span<const std::uint8_t> file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 12));
  if (bytes.starts_with("\xff\xd8\xff")) return "jpg";
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "png";
  if (bytes.starts_with("RIFF") && bytes.ends_with("WEBP")) return "webp";
  return std::nullopt;
}

std::string_view describe_unknown(std::span<const std::uint8_t> file) {
  struct Kind {
    std::string_view magic, name;
  };
  using namespace std::string_view_literals;
  static constexpr std::array kKinds = {
      Kind{"GIF8"sv, "a GIF"},
      Kind{"BM"sv, "a BMP"},
      Kind{"II*\0"sv, "a TIFF"},
      Kind{"MM\0*"sv, "a TIFF"},
      Kind{"\x89PNG"sv, "a PNG"},
      Kind{"RIFF"sv, "a WebP"},
      Kind{"P5"sv, "a PGM"},
      Kind{"P6"sv, "a PPM"},
      Kind{"\0\0\0\x0cjP"sv, "a JPEG 2000"},
      Kind{"\xff\x0a"sv, "a JPEG XL"},
      Kind{"<"sv, "a text in SVG, XML or HTML"},
  };
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Kind& kind : kKinds) {
    if (bytes.starts_with(kind.magic)) return kind.name;
  }
  return "no picture of a known kind";
}

}  // namespace fullbore::image
