// Whole pictures against libjpeg-turbo: what Fullbore's decoder accepts, libjpeg-turbo decodes to the same bytes; what
// it refuses, libjpeg-turbo warns about or is known to overlook. Windows must not change a pixel as long as an encoder
// could have written the coefficients: beyond that a pixel depends on which blocks are transformed beside it.
// Checkpoints must not in any case.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "feed/jpeg/turbo.h"
#include "fullbore/jpeg.h"
#include "tests/fuzz/coefficient_range.h"

namespace {

using namespace fullbore::jpeg;

[[noreturn]] void report(const char* what, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", what, message.c_str());
  std::abort();
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Its warnings that no pixel depends on: bytes between the last code and the next marker (which it only notices when
// they do not fit its look-ahead), and numbers in the JFIF and Adobe markers that it does not know.
bool is_harmless(const std::string& warning) {
  return contains(warning, "extraneous bytes") || contains(warning, "JFIF revision") ||
         contains(warning, "Adobe color");
}

// Accepted by us: libjpeg-turbo must agree.
void must_agree(FileBytes file, const Picture& own) {
  auto theirs = decode_by_turbo(file, false);
  if (!theirs && !is_harmless(theirs.error().message)) report("only we accept", theirs.error().message);
  if (!theirs) theirs = decode_by_turbo(file, true);
  if (!theirs) report("only we accept", theirs.error().message);
  if (own.pixels == theirs->pixels) return;
  if (coefficients_in_range(file)) report("other pixels", "");
}

// Refused by us: fine if libjpeg-turbo warns, and where its fast path overlooks codes that are none and blocks of more
// than 64 coefficients.
void must_refuse(FileBytes file, const Error& error) {
  if (contains(error.message, "no JPEG code") || contains(error.message, "Huffman table")) return;
  if (decode_by_turbo(file, false)) report("only we refuse", error.message);
}

bool is_part(const Picture& part, const Picture& whole, const Rect& window) {
  const std::size_t row = std::size_t{window.width} * whole.channels;
  for (std::size_t y = 0; y < window.height; ++y) {
    const std::size_t at = ((window.y + y) * whole.width + window.x) * whole.channels;
    if (std::memcmp(&part.pixels[y * row], &whole.pixels[at], row) != 0) return false;
  }
  return true;
}

void windows_must_agree(Decoder& decoder, FileBytes file, const Picture& whole) {
  const Rect window{whole.width / 3, whole.height / 4, (whole.width + 1) / 2, (whole.height + 1) / 2};
  Checkpoints made;
  const auto recorded = decoder.decode(file, {.window = window, .record = &made});
  if (!recorded) report("a window is refused", recorded.error().message);
  if (!is_part(*recorded, whole, window) && coefficients_in_range(file)) report("a window has other pixels", "");
  if (made.empty()) return;
  const auto indexed = decoder.decode(file, {.window = window, .checkpoints = &made});
  if (!indexed) report("checkpoints are refused", indexed.error().message);
  if (indexed->pixels != recorded->pixels) report("checkpoints change pixels", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file(data, size);
  const auto header = read_header(file);
  if (!header || !header->native || std::uint64_t{header->width} * header->height > 1 << 18) return 0;
  static Decoder decoder;
  const auto own = decoder.decode(file);
  if (!own) {
    must_refuse(file, own.error());
    return 0;
  }
  must_agree(file, *own);
  windows_must_agree(decoder, file, *own);
  return 0;
}
