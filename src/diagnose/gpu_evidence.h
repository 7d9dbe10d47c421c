// What the device itself recorded in the trace windows, summed over the whole iterations that lie in them: when kernels
// ran, why none did, and the copies to the device. A copy that kernels hid costs nothing, whatever its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/account.h"
#include "diagnose/gpu_idle.h"
#include "diagnose/iterations.h"
#include "record/run.h"

namespace fullbore::diagnose {

// Copies from the host out of one kind of memory.
struct CopiesFrom {
  std::int64_t count = 0;
  double bytes = 0;
  double busy_ns = 0;
  double exposed_ns = 0;  // in which no kernel ran

  std::optional<double> gb_per_s() const { return busy_ns > 0 ? std::optional(bytes / busy_ns) : std::nullopt; }
};

// Rows of small copies, one behind the other.
struct SmallCopies {
  std::int64_t count = 0;
  double bytes = 0;
  double idle_ns = 0;  // from the first of a row to its last, in which no kernel ran
};

struct GpuEvidence {
  std::size_t windows = 0;     // that hold two whole iterations
  std::size_t iterations = 0;  // in them
  double seen_ns = 0;          // of these iterations
  std::size_t kernels = 0;
  double compute_ns = 0;     // in which a kernel ran, on any stream
  double collective_ns = 0;  // in which only a collective did
  CopiesFrom pageable, pinned;
  SmallCopies small;
  double waited_for = 0;  // share of the pinned bytes whose copy the host stood still for
  std::array<double, kIdleKinds> idle_ns = {};
  std::array<std::array<double, kGapSizes>, kIdleKinds> gap_ns = {};  // the same by the length of the whole gap
  double input_wait_ns = 0;                                           // of the loop, whatever the device did
  double hidden_wait_ns = 0;                                          // of it, while a kernel ran
  double device_wait_ns = 0;  // in which the thread waited for the device, but not for a copy
  double device_waits = 0;    // how often
  double copy_wait_ns = 0;    // in which it waited for copies, or made them
  double busy_body_ns = 0;    // in which it waited for nothing: it worked, or wanted to

  double share(double ns) const { return seen_ns > 0 ? ns / seen_ns : 0; }
  double busy_ns() const { return compute_ns + collective_ns; }
  double busy() const { return share(busy_ns()); }
  double copy_ns() const { return pageable.busy_ns + pinned.busy_ns; }
  double per_iteration(double sum) const { return iterations > 0 ? sum / static_cast<double>(iterations) : 0; }
};

// Of the training process, from windows inside the judged part of the run. Only whole iterations are taken, and only
// windows with two: a shorter one shows the busy part of a step and not the wait around it. (On an H200 a job that was
// idle nine tenths of the time read 83 % busy from such windows.) nullopt if there is none.
std::optional<GpuEvidence> gpu_evidence(const record::Run& run, const Trainer& trainer, const Iterations& iterations,
                                        const std::vector<Stretch>& stretches);

}  // namespace fullbore::diagnose
