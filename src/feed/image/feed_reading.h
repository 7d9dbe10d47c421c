// What the disk alone could do: the pictures are read as training reads them, in random order and by threads, and
// nothing is done with them. Whether the page cache had them decides what that number means, so it is part of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "feed/image/catalogue.h"

namespace fullbore::image {

struct ReadingRate {
  int threads = 0;
  std::uint64_t pictures = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::optional<double> cached;             // share of bytes that were in the page cache before; of up to 200 pictures
  std::map<std::string, std::uint64_t> by;  // pictures by what decodes them: "own decoder", "libjpeg-turbo", "PNG" ...
};

struct ReadingOptions {
  int threads = 1;
  double seconds = 1;  // or until each picture was read once
  bool cold = false;   // asks the kernel to forget the files first; then at most 20,000 pictures are read
};

// `go_on` is called some times a second from this thread, `on_bad` from any, one at a time.
ReadingRate measure_reading(const Catalogue& catalogue, const ReadingOptions& options,
                            const std::function<bool()>& go_on,
                            const std::function<void(std::uint64_t sample, const std::string& reason)>& on_bad);

}  // namespace fullbore::image
