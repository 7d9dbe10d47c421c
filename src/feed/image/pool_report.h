// What a pool of threads did so far, and what that says about the limit of its rate.
#pragma once

#include <cstdint>
#include <string>

#include "fullbore/image_loader.h"

namespace fullbore::image {

struct PoolReport {
  int threads = 0;
  int working = 0;      // of them, as the tuner has it
  bool settled = true;  // the tuner takes no more of them away
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  double read_ms = 0, decode_ms = 0, finish_ms = 0;  // of all threads
  double wait_ms = 0;                                // of the caller, but for the first batch
  std::int64_t first_ns = 0, last_ns = 0;            // that the first and the last batch were handed out at

  void add(const BatchTimes& times, std::uint64_t its_samples, std::int64_t asked_ns, std::int64_t now_ns);
};

// In sentences, a line each.
std::string explain(const PoolReport& report);

}  // namespace fullbore::image
