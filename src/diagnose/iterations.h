// Cuts a training loop into iterations: from the start of the wait for batch i to the start of the wait for batch i+1,
// so that a cause comes before its effect. Says which of them are typical and which stand apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/trainer.h"

namespace fullbore::diagnose {

struct Iteration {
  std::int64_t begin_ns = 0;
  std::int64_t wait_end_ns = 0;  // = begin_ns where the wait is not known
  std::int64_t end_ns = 0;
  const wire::NextRecord* next = nullptr;  // nullptr without a loader
  std::int32_t samples = wire::kUnknown32;
  std::int32_t optimizer_steps = 0;
  bool first = false;   // of its iterator: workers start, pipelines fill
  bool edge = false;    // the loop was left in it: what follows is not this step
  bool paused = false;  // a checkpoint or a validation lies in it
  bool traced = false;  // source lines were being timed: slower than it would be
  bool hole = false;    // records are missing in it
  bool steady = false;  // counts for the typical step

  std::int64_t wall_ns() const { return end_ns - begin_ns; }
  std::int64_t wait_ns() const { return wait_end_ns - begin_ns; }
};

// Between the end of one pass over the loader and the start of the next.
struct EpochGap {
  std::int64_t begin_ns = 0;     // the call of next that found the end
  std::int64_t stop_end_ns = 0;  // its return: workers are gone
  std::int64_t end_ns = 0;       // first wait of the next pass, or the last thing known
};

struct Iterations {
  std::vector<Iteration> all;  // in order of time, warm-up included
  std::vector<EpochGap> gaps;
  std::size_t warmup = 0;           // the first so many of `all`
  std::size_t steady = 0;           // how many are
  std::int64_t steady_ns = 0;       // their wall time
  std::int64_t whole_begin_ns = 0;  // after warm-up ...
  std::int64_t whole_end_ns = 0;    // ... to the last thing known of this loop
  std::size_t whole_count = 0;      // iterations in it
};

Iterations cut_iterations(const Trainer& trainer);

// How many of the first durations are warm-up: until the median of five is within 10 % of the five before, at the
// latest after 20 or a quarter of them.
std::size_t warmup_length(const std::vector<std::int64_t>& wall_ns);

}  // namespace fullbore::diagnose
