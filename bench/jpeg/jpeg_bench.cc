// CPU time per picture of the JPEG decoder, each way of starting it, and of libjpeg-turbo, interleaved in rounds over
// the same files and the same crops (RandomResizedCrop 224 with flips, drawn from the file's number).
//
//   jpeg_bench [--rounds N] [--limit N] [--crops FILE] [--only MODE] FOLDER
//
// --crops writes "path x y width height flip" for the Python peers (bench/jpeg/peers.py), which then do the same work.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "feed/image/checkpoint_store.h"
#include "feed/jpeg/turbo.h"
#include "fullbore/jpeg.h"

namespace fullbore::jpeg {
namespace {

struct Sample {
  std::string path;
  std::uint64_t number = 0;
  Rect crop;
  bool flip = false;
  Checkpoints checkpoints;
};

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// torchvision's RandomResizedCrop: area 8-100 %, ratio 3/4 to 4/3, ten attempts, else the central square.
void draw_crop(Sample& sample, const Header& header, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const double width = header.width, height = header.height;
  sample.flip = unit(random) < 0.5;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = width * height * (0.08 + 0.92 * unit(random));
    const double ratio = std::exp(std::log(0.75) + unit(random) * std::log(16.0 / 9));
    const double w = std::round(std::sqrt(area * ratio)), h = std::round(std::sqrt(area / ratio));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    sample.crop = {static_cast<std::uint32_t>(unit(random) * (width - w + 1)),
                   static_cast<std::uint32_t>(unit(random) * (height - h + 1)), static_cast<std::uint32_t>(w),
                   static_cast<std::uint32_t>(h)};
    return;
  }
  const std::uint32_t side = std::min(header.width, header.height);
  sample.crop = {(header.width - side) / 2, (header.height - side) / 2, side, side};
}

std::vector<Sample> load_samples(const std::string& folder, std::size_t limit) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg" || entry.path().extension() == ".jpeg") paths.push_back(entry.path());
  }
  // Spread over the folders whatever the limit.
  std::ranges::sort(paths);
  std::shuffle(paths.begin(), paths.end(), std::mt19937(1));
  if (paths.size() > limit) paths.resize(limit);
  std::vector<Sample> samples;
  Decoder decoder;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Sample sample{paths[i], samples.size(), {}, false, {}};
    const auto file = read_file(sample.path);
    const auto header = read_header(file);
    if (!header) continue;
    draw_crop(sample, *header, i + 1);
    if (decoder.decode(file, {.window = sample.crop, .record = &sample.checkpoints}))
      samples.push_back(std::move(sample));
  }
  return samples;
}

struct Mode {
  std::string name;
  std::function<void(const Sample&, const std::vector<std::uint8_t>&)> run;
  std::function<void()> begin = [] {};  // each of both inside the time of a round
  std::function<void()> end = [] {};
  std::vector<double> ms = {};
};

// The loader's way: what a file is, what the index has of it, and recording what it has not.
class IndexFileModes {
 public:
  explicit IndexFileModes(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) catalogue_.add(sample.path, 0);
  }
  ~IndexFileModes() {
    store_.reset();
    std::filesystem::remove(path_);
  }

  void begin(bool anew) {
    if (anew) std::filesystem::remove(path_);
    auto index = image::IndexFile::open(path_);
    if (!index) std::abort();
    store_.emplace(catalogue_, 0, std::move(*index));
  }
  void end() { store_.reset(); }
  void decode(Decoder& decoder, const Sample& sample, const std::vector<std::uint8_t>& file,
              std::vector<std::uint8_t>& out, bool must_be_known) {
    const std::uint64_t identity = image::index_identity(file, 0);
    const auto known = store_->find(sample.number, identity);
    if (known.has_value() != must_be_known) std::abort();
    Checkpoints made;
    DecodeOptions options{.window = sample.crop, .resize = Resize{{224, 224}, Filter::kBilinear, sample.flip}};
    options.checkpoints = known ? &*known : nullptr;
    options.record = known ? nullptr : &made;
    if (!decoder.decode_into(file, options, out, 224 * 3)) std::abort();
    if (!known) store_->keep(sample.number, identity, made);
  }

 private:
  image::Catalogue catalogue_{""};
  std::optional<image::CheckpointStore> store_;
  const std::string path_ = std::filesystem::temp_directory_path() / ("fullbore-bench-" + std::to_string(::getpid()));
};

std::vector<Mode> modes(Decoder& decoder, IndexFileModes& index_file, std::vector<std::uint8_t>& out) {
  const auto own = [&](const Sample& sample, const std::vector<std::uint8_t>& file, bool indexed, Checkpoints* record) {
    DecodeOptions options{.window = sample.crop, .resize = Resize{{224, 224}, Filter::kBilinear, sample.flip}};
    if (indexed) options.checkpoints = &sample.checkpoints;
    options.record = record;
    if (!decoder.decode_into(file, options, out, 224 * 3)) std::abort();
  };
  return {
      {"libjpeg-turbo, whole picture",
       [](const Sample&, const auto& file) {
         if (!decode_by_turbo(file, false)) std::abort();
       }},
      {"own, whole picture",
       [&](const Sample&, const auto& file) {
         if (!decoder.decode(file)) std::abort();
       }},
      {"own, whole picture, index",
       [&](const Sample& s, const auto& file) {
         if (!decoder.decode(file, {.checkpoints = &s.checkpoints})) std::abort();
       }},
      {"crop 224, no index", [=](const Sample& s, const auto& file) { own(s, file, false, nullptr); }},
      {"crop 224, making the index",
       [=](const Sample& s, const auto& file) {
         Checkpoints made;
         own(s, file, false, &made);
       }},
      {"crop 224, index", [=](const Sample& s, const auto& file) { own(s, file, true, nullptr); }},
      {"crop 224, writing the file",
       [&](const Sample& s, const auto& file) { index_file.decode(decoder, s, file, out, false); },
       [&] { index_file.begin(true); }, [&] { index_file.end(); }},
      {"crop 224, index from the file",
       [&](const Sample& s, const auto& file) { index_file.decode(decoder, s, file, out, true); },
       [&] { index_file.begin(false); }, [&] { index_file.end(); }},
  };
}

int run(const std::string& folder, std::size_t rounds, std::size_t limit, const std::string& crops,
        const std::string& only) {
  const std::vector<Sample> samples = load_samples(folder, limit);
  if (samples.empty()) return 1;
  if (!crops.empty()) {
    std::ofstream file(crops);
    for (const Sample& s : samples)
      file << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", s.path, s.crop.x, s.crop.y, s.crop.width, s.crop.height,
                          int{s.flip});
  }
  std::size_t bytes = 0, index = 0;
  for (const Sample& s : samples) {
    bytes += std::filesystem::file_size(s.path);
    index += s.checkpoints.serialise().size();
  }
  const auto count = static_cast<double>(samples.size());
  fmt::print("{} pictures, mean {:.1f} kB, index {:.0f} B each ({:.2f} %), {}\n", samples.size(),
             static_cast<double>(bytes) / count / 1e3, static_cast<double>(index) / count,
             100.0 * static_cast<double>(index) / static_cast<double>(bytes),
             hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets()));
  Decoder decoder;
  std::vector<std::uint8_t> out(std::size_t{224} * 224 * 3);
  IndexFileModes index_file(samples);
  std::vector<Mode> all = modes(decoder, index_file, out);
  if (only == all.back().name) {  // what it reads is written by the one before it
    index_file.begin(true);
    for (const Sample& sample : samples) index_file.decode(decoder, sample, read_file(sample.path), out, false);
    index_file.end();
  }
  if (!only.empty()) std::erase_if(all, [&](const Mode& mode) { return mode.name != only; });
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Mode& mode : all) {
      const double start = cpu_s();
      mode.begin();
      for (const Sample& sample : samples) mode.run(sample, read_file(sample.path));
      mode.end();
      mode.ms.push_back((cpu_s() - start) / count * 1e3);
    }
  }
  const std::vector<double> reference = all.front().ms;
  for (Mode& mode : all) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(reference[i] / mode.ms[i]);
    std::ranges::sort(ratios);
    std::ranges::sort(mode.ms);
    fmt::print("{:30} {:.3f} ms CPU (best), {:.3f} median; {:.2f} times the first ({:.2f} to {:.2f})\n", mode.name,
               mode.ms.front(), mode.ms[rounds / 2], ratios[rounds / 2], ratios.front(), ratios.back());
  }
  return 0;
}

}  // namespace
}  // namespace fullbore::jpeg

int main(int argc, char** argv) {
  std::size_t rounds = 5, limit = 500;
  std::string crops, folder, only;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (argument == "--rounds")
      rounds = std::stoul(value());
    else if (argument == "--limit")
      limit = std::stoul(value());
    else if (argument == "--crops")
      crops = value();
    else if (argument == "--only")
      only = value();
    else if (argument == "--target")
      hwy::SetSupportedTargetsForTest(std::stoll(value()));
    else
      folder = argument;
  }
  if (folder.empty()) {
    fmt::print(stderr, "usage: jpeg_bench [--rounds N] [--limit N] [--crops FILE] [--only MODE] FOLDER\n");
    return 2;
  }
  return fullbore::jpeg::run(folder, rounds, limit, crops, only);
}
