// See handoff_costs.h.
#include "diagnose/replay/handoff_costs.h"

#include <algorithm>

namespace fullbore::diagnose::replay {
namespace {

// Workers collate into shared memory, whose pages are new each time. Loops over small arrays paid twice as much (0.85
// ms per MB), workers that decode photographs nothing at all: the middle, and an interval that holds both. Samples cost
// what they did before: workers that Fullbore starts keep the memory that they free.
constexpr double kCollateMsPerMb = 0.4;
// Putting it into the queue, serialising it, and taking it out at the other end.
constexpr double kDispatchMs = 1.5, kPutMs = 0.5, kTransitMs = 1.5, kReceiveMs = 1.0;
// The loop gives the pages of the batch before back.
constexpr double kReleaseMsPerMb = 0.35;

}  // namespace

void add_handoff(Loop& loop) {
  for (auto& pool : loop.batches) {
    for (BatchCost& cost : pool) {
      cost.collate_cpu += kCollateMsPerMb * loop.batch_mb;
      cost.put += kPutMs;
    }
  }
  for (BodyCost& body : loop.bodies) body.cpu += kReleaseMsPerMb * loop.batch_mb;
  loop.handoff.dispatch += kDispatchMs;
  loop.handoff.transit += kTransitMs;
  loop.handoff.receive += kReceiveMs;
}

void remove_handoff(Loop& loop) {
  for (auto& pool : loop.batches) {
    for (BatchCost& cost : pool) {
      cost.collate_cpu = std::max(0.0, cost.collate_cpu - kCollateMsPerMb * loop.batch_mb);
      cost.put = 0;
    }
  }
  for (BodyCost& body : loop.bodies) body.cpu = std::max(0.0, body.cpu - kReleaseMsPerMb * loop.batch_mb);
  loop.handoff = {0, 0, loop.handoff.pin, loop.handoff.sampler, loop.handoff.sampler};
}

}  // namespace fullbore::diagnose::replay
