// The WebP decoder and the reader of EXIF on any bytes.
#include <cstddef>
#include <vector>

#include "feed/image/exif.h"
#include "tests/fuzz/png_webp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto decoder = fullbore::image::make_webp_decoder();
  const std::vector<std::uint8_t> file(data, data + size);  // memory of just this size
  decode_a_part(*decoder, file);
  (void)fullbore::image::exif_orientation(file);
  return 0;
}
