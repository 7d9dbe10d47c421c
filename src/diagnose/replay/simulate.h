// Plays a Loop event by event: workers take batches in turn, as torch's multiprocessing iterator deals them, the loop
// takes them in order, and all of them share cores and device. Deterministic: the same loop and draw, the same outcome.
#pragma once

#include <cstddef>
#include <cstdint>

#include "diagnose/replay/loop.h"

namespace fullbore::diagnose::replay {

// Which recorded costs a replay meets. Seed 0: the recorded ones in their order. Others: blocks of them, drawn with
// replacement, so that slow stretches stay together.
struct Draw {
  std::uint64_t seed = 0;
  std::size_t steps = 600;  // at most so many
};

struct Outcome {
  double step_ms = 0;   // mean of the steady steps
  double wait_ms = 0;   // of it, in next()
  double whole_ms = 0;  // mean over whole epochs, edges and pauses included
  // Shares of the steady time:
  double cores_busy = 0;   // of the cores there are, others included
  double device_busy = 0;  // 0 where no device is at its limit
  double workers_busy = 0;
  double pin_busy = 0;
  double ready = 0;    // batches that lay ready when next() was called, mean
  double in_line = 0;  // of the waits: a later batch was there already
};

Outcome simulate(const Loop& loop, const Draw& draw);

}  // namespace fullbore::diagnose::replay
