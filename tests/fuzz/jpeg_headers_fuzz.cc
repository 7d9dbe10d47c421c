// The marker parser on any bytes: it must end, inside its input.
#include <cstddef>
#include <cstdint>

#include "feed/jpeg/markers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fullbore::jpeg;
  const FileBytes file(data, size);
  auto headers = read_headers(file);
  for (int scans = 0; headers && scans < 8; ++scans) {
    std::size_t end = headers->scan.data;
    while (end + 1 < size && (data[end] != 0xff || data[end + 1] == 0)) ++end;
    const auto more = next_scan(file, end, *headers);
    if (!more || !*more) break;
  }
  return 0;
}
