// PNG through libpng, whole, then the window. Alpha is left out, as Pillow's convert("RGB") does: colours under
// transparent pixels are shown as they are stored.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "feed/image/decoder.h"
#include "feed/image/rgb_resizer.h"

namespace fullbore::image {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kHeaderEnd = 24;  // signature, length, "IHDR", width, height

struct Input {
  std::span<const std::uint8_t> rest;
  char message[128] = "";
};

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& input = *static_cast<Input*>(png_get_io_ptr(png));
  if (count > input.rest.size()) png_error(png, "the data end early");
  std::memcpy(out, input.rest.data(), count);
  input.rest = input.rest.subspan(count);
}

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& input = *static_cast<Input*>(png_get_error_ptr(png));
  std::strncpy(input.message, message, sizeof(input.message) - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

// Nothing with a destructor lives here: errors leave by longjmp. False: see input.message.
bool read_rows(png_structp png, png_infop info, Input& input, png_bytepp rows, std::uint32_t width,
               std::uint32_t height) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, &input, read_bytes);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);  // the caller has looked at the size
  png_read_info(png, info);
  png_set_strip_16(png);
  png_set_packing(png);
  png_set_palette_to_rgb(png);
  png_set_expand_gray_1_2_4_to_8(png);
  png_set_gray_to_rgb(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_image_width(png, info) != width || png_get_image_height(png, info) != height ||
      png_get_rowbytes(png, info) != std::size_t{width} * 3) {
    png_error(png, "an unexpected shape");
  }
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

class PngDecoder final : public Decoder {
 public:
  bool recognises(std::span<const std::uint8_t> file) const override {
    return file.size() >= kSignature && png_sig_cmp(file.data(), 0, kSignature) == 0;
  }

  base::Expected<Size> read_size(std::span<const std::uint8_t> file) override {
    if (file.size() < kHeaderEnd) return base::fail("the data end early");
    const Size size{big_endian(file.data() + 16), big_endian(file.data() + 20)};
    constexpr std::uint32_t kMost = 0x7fffffff;
    if (size.width == 0 || size.height == 0 || size.width > kMost || size.height > kMost)
      return base::fail("a size that a PNG cannot have");
    const bool sixteen_bits_of_gray =
        file.size() > kHeaderEnd + 1 && file[kHeaderEnd] == 16 && file[kHeaderEnd + 1] == 0;
    if (sixteen_bits_of_gray)
      return base::fail("16 bits of gray, which Pillow has no 8-bit RGB for; store it with 8 bits");
    size_ = size;
    return size;
  }

  base::Expected<void> decode(std::span<const std::uint8_t> file, const DecodeJob& job, RgbTarget target) override {
    const std::size_t row = std::size_t{size_.width} * 3;
    rgb_.resize(row * size_.height);
    rows_.resize(size_.height);
    for (std::uint32_t y = 0; y < size_.height; ++y) rows_[y] = rgb_.data() + y * row;
    Input input{file};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input, on_error, on_warning);
    if (png == nullptr) return base::fail("libpng cannot be started");
    png_infop info = png_create_info_struct(png);
    const bool done = info != nullptr && read_rows(png, info, input, rows_.data(), size_.width, size_.height);
    png_destroy_read_struct(&png, &info, nullptr);
    if (!done) return base::fail(input.message);
    resizer_.run(rgb_.data(), size_.width, job, target);
    return {};
  }

 private:
  Size size_;  // of the picture whose size was read last
  std::vector<std::uint8_t> rgb_;
  std::vector<png_bytep> rows_;
  RgbResizer resizer_;
};

}  // namespace

std::unique_ptr<Decoder> make_png_decoder() {
  return std::make_unique<PngDecoder>();
}

}  // namespace fullbore::image
