// Who made the batches: the records of every loader worker of one trainer (or of its own thread, with 0 workers), so
// that any instant of a wait can be looked up in the life of the worker that was being waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/iterations.h"
#include "diagnose/spans.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

// A batch and the process that made it.
struct Made {
  const wire::BatchRecord* batch = nullptr;
  std::uint32_t pid = 0;
};

// All that one worker number made, in order of time, over restarts of its process.
struct Maker {
  std::int32_t worker = wire::kUnknown32;  // unknown: the training thread itself
  std::vector<Made> made;

  // Over the steady part of the run:
  // Share of its time that it was not waiting for an index; while the loop itself stood still, nobody asks for one.
  std::optional<double> busy;
  std::optional<double> sample_ns;            // typical sample: median over batches, each without its slowest sample
  std::optional<double> sample_ns_halves[2];  // the same in the first and the second half
};

// Sums over the steady part of the run.
struct MakerTotals {
  std::size_t batches = 0;
  double samples = 0;
  double making_ns = 0;  // index in hand to handed over
  double fetch_ns = 0;
  double collate_ns = 0;
  double timed_ns = 0;  // of fetch + collate, where the next two were measured
  double cpu_ns = 0;
  double runq_ns = 0;
  std::optional<double> read_chars, read_bytes, major_faults;
};

struct Makers {
  std::vector<Maker> workers;
  MakerTotals totals;
  std::optional<double> sample_ns;  // typical sample over all workers
  std::optional<double> busy;       // mean over workers

  std::optional<double> cpu_share() const;  // of making, on a CPU
  std::optional<double> runnable_share() const;
  std::optional<double> blocked_share() const;
  std::optional<double> batch_ms() const;  // making one batch
};

// `pauses`: when the loop stood still for a checkpoint, a validation, a logger, the garbage collector.
Makers collect_makers(const Trainer& trainer, const Iterations& iterations, const Spans& pauses = {});

// A sample is slow when it takes this many times the typical one.
inline constexpr double kSlowSampleFactor = 5;

}  // namespace fullbore::diagnose
