// Compares the decoder with libjpeg-turbo beyond what fits into a unit test: any number of random pictures, or every
// JPEG below some folders. Whole picture, a window, and the window again from checkpoints made meanwhile.
//
//   jpeg_compare random COUNT [SEED]      jpeg_compare files FOLDER...
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "feed/jpeg/testing/pictures.h"
#include "feed/jpeg/turbo.h"
#include "fullbore/jpeg.h"

namespace {

using namespace fullbore::jpeg;

struct Tally {
  std::map<std::string, std::size_t> outcomes;
  std::size_t differences = 0;
  std::uint64_t samples = 0;
};

bool same_window(const Picture& part, const Picture& whole, const Rect& window) {
  const std::size_t row = std::size_t{window.width} * whole.channels;
  for (std::uint32_t y = 0; y < window.height; ++y) {
    const auto from = whole.pixels.begin() + static_cast<std::ptrdiff_t>(
                                                 (std::size_t{window.y + y} * whole.width + window.x) * whole.channels);
    if (!std::equal(from, from + static_cast<std::ptrdiff_t>(row),
                    part.pixels.begin() + static_cast<std::ptrdiff_t>(y * row))) {
      return false;
    }
  }
  return true;
}

Rect draw_window(std::mt19937& random, const Picture& whole) {
  const auto draw = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  const std::uint32_t width = draw(1, whole.width), height = draw(1, whole.height);
  return {draw(0, whole.width - width), draw(0, whole.height - height), width, height};
}

// What happened with one file; "differs" is what must not be.
std::string compare(Decoder& decoder, std::span<const std::uint8_t> file, std::mt19937& random, Tally& tally) {
  const auto theirs = decode_by_turbo(file, false);
  const auto header = read_header(file);
  const auto own = decoder.decode(file);
  if (!theirs) return own ? "accepted only here: " + theirs.error().message : "refused by both";
  if (!own) return "refused only here: " + own.error().message;
  if (!header->native) return own->pixels == theirs->pixels ? "by libjpeg-turbo" : "differs";
  const Rect window = draw_window(random, *theirs);
  Checkpoints made;
  const auto recorded = decoder.decode(file, {.window = window, .record = &made});
  if (!recorded || own->pixels != theirs->pixels || !same_window(*recorded, *theirs, window)) return "differs";
  tally.samples += own->pixels.size() + recorded->pixels.size();
  if (made.empty()) return "own, several scans";
  const Rect second = draw_window(random, *theirs);
  const auto indexed = decoder.decode(file, {.window = second, .checkpoints = &made});
  if (!indexed || !same_window(*indexed, *theirs, second)) return "differs";
  tally.samples += indexed->pixels.size();
  return "own";
}

void note(Tally& tally, const std::string& outcome, const std::string& name) {
  ++tally.outcomes[outcome];
  if (!outcome.starts_with("own") && outcome != "by libjpeg-turbo" && outcome != "refused by both") {
    ++tally.differences;
    fmt::print("{}: {}\n", name, outcome);
  }
}

void random_pictures(std::size_t count, std::uint32_t seed, Tally& tally) {
  std::mt19937 random(seed);
  Decoder decoder;
  for (std::size_t i = 0; i < count; ++i) {
    const auto encoding = testing::random_encoding(random, i % 20 == 0 ? 400 : 100);
    note(tally, compare(decoder, testing::encode(encoding), random, tally), describe(encoding));
  }
}

void files_below(const std::string& folder, Tally& tally) {
  std::mt19937 random(1);
  Decoder decoder;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, options)) {
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || (extension != ".jpg" && extension != ".jpeg" && extension != ".JPG")) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    note(tally, compare(decoder, bytes, random, tally), entry.path().string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[1] : "";
  Tally tally;
  if (kind == "random") {
    random_pictures(std::stoul(argv[2]), argc > 3 ? static_cast<std::uint32_t>(std::stoul(argv[3])) : 1, tally);
  } else if (kind == "files") {
    for (int i = 2; i < argc; ++i) files_below(argv[i], tally);
  } else {
    fmt::print(stderr, "usage: jpeg_compare random COUNT [SEED] | files FOLDER...\n");
    return 2;
  }
  for (const auto& [outcome, count] : tally.outcomes) fmt::print("{:8} {}\n", count, outcome);
  fmt::print("{} samples compared, {} files to look at\n", tally.samples, tally.differences);
  return tally.differences == 0 ? 0 : 1;
}
