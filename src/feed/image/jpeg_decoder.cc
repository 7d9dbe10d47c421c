// JPEG: the window decoder straight into the batch. CMYK is decoded whole, since Pillow converts it before it resizes.
#include <algorithm>

#include "feed/image/decoder.h"
#include "feed/image/index_format.h"
#include "feed/image/rgb_resizer.h"

namespace fullbore::image {
namespace {

std::unexpected<base::Error> to_error(const jpeg::Error& error) {
  return base::fail(error.message);
}

// a * b / 255, rounded, as Pillow does it.
std::uint32_t multiply_255(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Pillow takes all CMYK files for Adobe's, which store the complement: 0 is full ink.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::size_t count, std::uint8_t* rgb) {
  for (; count > 0; --count, cmyk += 4, rgb += 3) {
    const std::uint32_t light = cmyk[3];
    for (int c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>(light - multiply_255(255u - cmyk[c], light));
  }
}

class JpegDecoder final : public Decoder {
 public:
  explicit JpegDecoder(CheckpointStore& checkpoints) : checkpoints_(checkpoints) {}

  bool recognises(std::span<const std::uint8_t> file) const override {
    return file.size() >= 3 && file[0] == 0xff && file[1] == 0xd8 && file[2] == 0xff;
  }

  base::Expected<Size> read_size(std::span<const std::uint8_t> file) override {
    const auto header = jpeg::read_header(file);
    if (!header) return to_error(header.error());
    channels_ = header->channels;
    return Size{header->width, header->height};
  }

  base::Expected<void> decode(std::span<const std::uint8_t> file, const DecodeJob& job, RgbTarget target) override {
    if (channels_ == 4) return decode_cmyk(file, job, target);
    jpeg::DecodeOptions options{.window = job.window, .resize = jpeg::Resize{job.resized, job.filter, job.flip}};
    const std::uint64_t identity = index_identity(file, job.mtime_ns);
    const auto known = checkpoints_.find(job.sample, identity);
    const bool record = !known && checkpoints_.wants(job.sample, identity);
    options.checkpoints = known ? &*known : nullptr;
    options.record = record ? &recorded_ : nullptr;
    auto done = decode_window(file, options, target);
    if (done && record) checkpoints_.keep(job.sample, identity, recorded_);
    if (!done && (known || record)) {
      // Recording reads to the end of the file, and checkpoints may be another file's that was made to look the same:
      // what is wrong must not depend on what was decoded before.
      options.checkpoints = nullptr;
      options.record = nullptr;
      done = decode_window(file, options, target);
      if (done && known) checkpoints_.forget(job.sample);
    }
    if (!done) return to_error(done.error());
    return {};
  }

 private:
  jpeg::Expected<void> decode_window(std::span<const std::uint8_t> file, const jpeg::DecodeOptions& options,
                                     RgbTarget target) {
    const Size size = options.resize->size;
    const std::size_t bytes = target.stride * (size.height - 1) + std::size_t{size.width} * 3;
    return decoder_.decode_into(file, options, {target.pixels, bytes}, target.stride);
  }

  base::Expected<void> decode_cmyk(std::span<const std::uint8_t> file, const DecodeJob& job, RgbTarget target) {
    const auto picture = decoder_.decode(file, {.window = job.window});
    if (!picture) return to_error(picture.error());
    rgb_.resize(std::size_t{picture->width} * picture->height * 3);
    cmyk_to_rgb(picture->pixels.data(), std::size_t{picture->width} * picture->height, rgb_.data());
    DecodeJob inside = job;
    inside.window = {0, 0, picture->width, picture->height};
    resizer_.run(rgb_.data(), picture->width, inside, target);
    return {};
  }

  CheckpointStore& checkpoints_;
  jpeg::Checkpoints recorded_;
  jpeg::Decoder decoder_;
  std::uint32_t channels_ = 3;  // of the picture whose size was read last
  RgbResizer resizer_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace

std::unique_ptr<Decoder> make_jpeg_decoder(CheckpointStore& checkpoints) {
  return std::make_unique<JpegDecoder>(checkpoints);
}

}  // namespace fullbore::image
