// WebP through libwebp, whole, then the window. Alpha is left out, as Pillow's convert("RGB") does.
#include <webp/decode.h>

#include <cstring>

#include "feed/image/decoder.h"
#include "feed/image/rgb_resizer.h"

namespace fullbore::image {
namespace {

class WebpDecoder final : public Decoder {
 public:
  bool recognises(std::span<const std::uint8_t> file) const override {
    return file.size() >= 12 && std::memcmp(file.data(), "RIFF", 4) == 0 &&
           std::memcmp(file.data() + 8, "WEBP", 4) == 0;
  }

  base::Expected<Size> read_size(std::span<const std::uint8_t> file) override {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK || features.width <= 0 ||
        features.height <= 0)
      return base::fail("a WebP without a readable header");
    if (features.has_animation != 0) return base::fail("an animated WebP; only still ones are decoded here");
    size_ = {static_cast<std::uint32_t>(features.width), static_cast<std::uint32_t>(features.height)};
    return size_;
  }

  base::Expected<void> decode(std::span<const std::uint8_t> file, const DecodeJob& job, RgbTarget target) override {
    const std::size_t row = std::size_t{size_.width} * 3;
    rgb_.resize(row * size_.height);
    if (WebPDecodeRGBInto(file.data(), file.size(), rgb_.data(), rgb_.size(), static_cast<int>(row)) == nullptr)
      return base::fail("the data end early or are damaged");
    resizer_.run(rgb_.data(), size_.width, job, target);
    return {};
  }

 private:
  Size size_;  // of the picture whose size was read last
  std::vector<std::uint8_t> rgb_;
  RgbResizer resizer_;
};

}  // namespace

std::unique_ptr<Decoder> make_webp_decoder() {
  return std::make_unique<WebpDecoder>();
}

}  // namespace fullbore::image
