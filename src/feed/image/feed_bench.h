// How fast this machine can feed pictures, part by part: what the disk gives, what a picture costs the CPU in each
// stage, and what more threads make of it. A single number would not say which of them to change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/catalogue.h"
#include "feed/image/feed_reading.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

struct BenchOptions {
  TransformOptions transform;
  int most_threads = 1;
  double seconds = 10;  // for all of it
  bool cold = false;    // ask the kernel to forget the files before they are read
};

// CPU time of one thread per picture, in milliseconds.
struct StageCosts {
  std::uint64_t pictures = 0;
  double read_ms = 0;
  double decode_ms = 0;  // decoding, cropping, resizing, flipping
  double finish_ms = 0;  // normalising, type, layout

  double all_ms() const { return read_ms + decode_ms + finish_ms; }
};

struct ThreadsRate {
  int threads = 0;
  std::uint64_t pictures = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of the whole process

  double pictures_per_s() const { return static_cast<double>(pictures) / seconds; }
};

struct BenchResult {
  std::uint64_t samples = 0;
  ReadingRate reading;
  StageCosts first_epoch, later_epochs;  // without and with the checkpoints of the first
  std::vector<ThreadsRate> rates;        // in later epochs, from the page cache; 1, 2, 4, ... threads
  std::uint64_t repeated = 0;            // pictures that costs and rates were measured on, again and again
  std::uint64_t bad = 0;                 // of those that were read or decoded
  std::string first_bad;                 // "PATH: REASON"
};

// What is slowest, and what would be next.
struct BenchLimit {
  std::string part;  // "storage", "read", "decode", "finish"
  double pictures_per_s = 0;
  std::string next_part;
  double next_pictures_per_s = 0;
};

// Fails if no picture can be used or when `go_on` says so; it is called some times a second with the share that is
// done.
base::Expected<BenchResult> run_bench(const Catalogue& catalogue, const BenchOptions& options,
                                      const std::function<bool(double done)>& go_on);

// Of the highest rate and of reading alone.
BenchLimit find_limit(const BenchResult& result);

}  // namespace fullbore::image
