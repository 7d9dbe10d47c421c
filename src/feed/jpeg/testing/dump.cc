// Decodes what it is told to, for tests in other languages. Each line of standard input names a job:
//   PATH<TAB>x y width height out_width out_height bilinear|bicubic flip
// (out_width 0: no resampling). Standard output gets, per job, "ok WIDTH HEIGHT CHANNELS\n" and the pixels, or
// "refused MESSAGE\n".
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "fullbore/jpeg.h"

namespace {

using namespace fullbore::jpeg;

void run(Decoder& decoder, const std::string& line) {
  const std::size_t tab = line.find('\t');
  std::istringstream fields(line.substr(tab + 1));
  Rect window;
  Resize resize;
  std::string filter;
  fields >> window.x >> window.y >> window.width >> window.height >> resize.size.width >> resize.size.height >>
      filter >> resize.flip;
  resize.filter = filter == "bicubic" ? Filter::kBicubic : Filter::kBilinear;
  std::ifstream file(line.substr(0, tab), std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  DecodeOptions options{.window = window};
  if (resize.size.width != 0) options.resize = resize;
  const auto picture = decoder.decode(bytes, options);
  if (!picture) {
    fmt::print("refused {}\n", picture.error().message);
    return;
  }
  fmt::print("ok {} {} {}\n", picture->width, picture->height, picture->channels);
  std::fwrite(picture->pixels.data(), 1, picture->pixels.size(), stdout);
}

}  // namespace

int main() {
  Decoder decoder;
  for (std::string line; std::getline(std::cin, line);) {
    run(decoder, line);
    std::fflush(stdout);
  }
  return 0;
}
