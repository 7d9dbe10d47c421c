// The reader of EXIF on any bytes, as they are and as a JPEG's: it must end, inside its input.
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "feed/image/exif.h"

namespace {

void read(const std::vector<std::uint8_t>& file) {
  const int orientation = fullbore::image::exif_orientation(file);
  if (orientation < 1 || orientation > 8) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> file(data, data + size);
  read(file);
  const std::size_t length = size + 8;
  if (length > 0xffff) return 0;
  std::vector<std::uint8_t> jpeg = {
      0xff, 0xd8, 0xff, 0xe1, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length), 'E', 'x',
      'i',  'f',  0,    0};
  jpeg.insert(jpeg.end(), file.begin(), file.end());
  read(jpeg);
  return 0;
}
