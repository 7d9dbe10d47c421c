// A training loop and its loader as a replay sees them: what batches and steps cost, who makes them, and what they
// share. Taken from a run by record_loop(), altered by apply(), played by simulate(). Times are milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/diagnosis.h"

namespace fullbore::diagnose::replay {

// One batch as it was made, whole, so that what its samples have in common stays together.
struct BatchCost {
  double fetch_cpu = 0;
  double fetch_blocked = 0;  // neither on a core nor waiting for one, less what `device_bytes` explains
  double device_bytes = 0;   // taken from a device whose bandwidth is the limit
  double collate_cpu = 0;
  double collate_blocked = 0;
  double put = 0;        // until the queue has it; in the worker, on a core
  double extra_cpu = 0;  // of fetch_*, what the slowest sample took beyond a typical one if it counts as slow
  double extra_blocked = 0;
  int chunks = 1;  // in which the worker alternates between blocked and on a core
};

// The loop body of one step.
struct BodyCost {
  double cpu = 0;
  double blocked = 0;  // an accelerator computes, a value is waited for
};

struct Handoff {
  double dispatch = 0;  // from the loop sending an index until a worker that had none begins
  double transit = 0;   // from the worker's queue to the loop's end of it: serialising, in a thread of the worker
  double pin = 0;       // in the pin thread, which does one batch after the other
  double receive = 0;   // on the loop's core, in next(): unpickling, and the sampler's share
  double sampler = 0;   // of receive
  double transit_blocked = 0;  // on the same way, waiting for the worker's interpreter: it takes no core
};

// The edges of an epoch, and what of the whole run no step and no epoch edge accounts for.
struct Edges {
  std::size_t batches = 0;  // per epoch
  bool several = false;     // epochs were seen, so that steady steps hold the filling of the pipeline
  double create = 0;        // iter(): worker processes are made
  double start = 0;         // from then until a worker begins its first batch
  double stop = 0;          // the last next(): workers end
  double fixed_per_step = 0;
};

struct Loop {
  std::vector<std::vector<BatchCost>> batches;  // one pool, or one per worker where workers differ
  std::vector<BodyCost> bodies;                 // in order of time, as are batches
  int workers = 0;
  int prefetch = 2;
  bool persistent = false;
  double cores = 1;                // that this loop and its workers may use
  double other_cores = 0;          // kept busy by others
  double device_bytes_per_ms = 0;  // 0: no device is at its limit
  Handoff handoff;
  Edges edges;
  double other_cpu = 0;  // of the job's other threads and processes, per step
  double batch_mb = 0;
  std::size_t warmup = 0;  // steps left out of the steady mean where only one epoch was seen
  // As measured:
  double step_ms = 0;
  double wait_ms = 0;
  double whole_ms = 0;
  std::size_t steps = 0;  // steady ones
};

// The loop with that change made to it.
Loop apply(const Loop& loop, const Change& change);

// Is the change judged on the whole run, because it lives at the edges of epochs?
bool at_edges(const Change& change);

}  // namespace fullbore::diagnose::replay
