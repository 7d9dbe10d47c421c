// What one pass over the data read and waited for. The first pass meets a cold page cache and the later ones may not:
// an average over all of them describes neither.
#pragma once

#include <cstddef>
#include <vector>

#include "diagnose/iterations.h"
#include "diagnose/makers.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

struct Pass {
  std::size_t batches = 0;  // made in it
  double read_chars = 0;  // asked of the kernel for them; batches of less than 1 ms are not asked about and count as 0
  double read_bytes = 0;  // of that from a device
  std::size_t iterations = 0;  // of the loop, after warm-up and without pauses
  double wall_ns = 0;          // of those
  double wait_ns = 0;

  double bytes_per_batch() const { return batches == 0 ? 0 : read_bytes / static_cast<double>(batches); }
  double wait_per_iteration_ns() const { return iterations == 0 ? 0 : wait_ns / static_cast<double>(iterations); }
};

// One per iterator of the training loader, in order of time; empty without a loader.
std::vector<Pass> measure_passes(const Trainer& trainer, const Iterations& iterations, const Makers& makers);

// All passes but the first, summed.
Pass later_passes(const std::vector<Pass>& passes);

}  // namespace fullbore::diagnose
