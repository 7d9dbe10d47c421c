// What each field of a Change does to a Loop; see loop.h.
#include "diagnose/replay/loop.h"

#include <algorithm>
#include <functional>

#include "diagnose/replay/handoff_costs.h"

namespace fullbore::diagnose::replay {
namespace {

void change_batch(const Change& change, BatchCost& cost) {
  if (change.even_samples) {
    cost.fetch_cpu -= cost.extra_cpu;
    cost.fetch_blocked -= cost.extra_blocked;
    cost.extra_cpu = cost.extra_blocked = 0;
  }
  cost.fetch_cpu *= change.sample_cpu;
  cost.fetch_blocked *= change.sample_blocked;
  cost.device_bytes *= change.device_bytes;
  cost.collate_cpu *= change.collate;
  cost.collate_blocked *= change.collate;
  cost.put *= change.handoff;
}

// That worker meets the batches of the next one instead of its own.
void even_out(std::size_t worker, Loop& loop) {
  if (loop.batches.size() < 2 || worker >= loop.batches.size()) return;
  loop.batches[worker] = loop.batches[(worker + 1) % loop.batches.size()];
}

void change_handoff(const Change& change, Handoff& handoff) {
  const double others = handoff.receive - handoff.sampler;
  handoff.sampler *= change.sampler;
  handoff.dispatch *= change.handoff;
  handoff.transit *= change.handoff;
  handoff.transit_blocked *= change.handoff;
  handoff.pin *= change.handoff * change.pin;
  handoff.receive = others * change.handoff + handoff.sampler;
}

// Takes `less` ms per step off the bodies, from the longest down: pauses are what makes a body long.
void shorten(double less, std::vector<BodyCost>& bodies) {
  if (less <= 0 || bodies.empty()) return;
  std::vector<double> walls;
  for (const BodyCost& body : bodies) walls.push_back(body.cpu + body.blocked);
  std::ranges::sort(walls, std::greater{});
  double over = less * static_cast<double>(walls.size()), level = 0;  // still to be taken; what is left of the longest
  for (std::size_t longest = 1; longest <= walls.size(); ++longest) {
    const double below = longest < walls.size() ? walls[longest] : 0;
    const double step = (walls[longest - 1] - below) * static_cast<double>(longest);
    if (step >= over) {
      level = walls[longest - 1] - over / static_cast<double>(longest);
      break;
    }
    over -= step;
  }
  for (BodyCost& body : bodies) {
    const double wall = body.cpu + body.blocked;
    if (wall <= level) continue;
    body.cpu *= level / wall;
    body.blocked *= level / wall;
  }
}

void change_workers(int workers, Loop& loop) {
  if (loop.workers == 0 && workers > 0) add_handoff(loop);
  if (loop.workers > 0 && workers == 0) remove_handoff(loop);
  if (loop.workers > 0) loop.edges.create *= static_cast<double>(workers) / loop.workers;
  loop.workers = workers;
}

}  // namespace

bool at_edges(const Change& change) {
  return change.persistent.value_or(false) || change.start != 1 || change.pause_less_ms != 0;
}

Loop apply(const Loop& loop, const Change& change) {
  Loop changed = loop;
  if (change.even_worker) even_out(static_cast<std::size_t>(std::max(0, *change.even_worker)), changed);
  for (auto& pool : changed.batches) {
    for (BatchCost& cost : pool) change_batch(change, cost);
  }
  change_handoff(change, changed.handoff);
  if (change.workers && *change.workers != loop.workers) change_workers(std::max(0, *change.workers), changed);
  if (change.prefetch) changed.prefetch = std::max(1, *change.prefetch);
  if (change.cores) changed.cores = *change.cores;
  if (change.persistent.value_or(false) && !loop.persistent)
    changed.edges.create = changed.edges.start = changed.edges.stop = 0;
  changed.edges.start *= change.start;
  // Where every step pauses, the pause is part of its body.
  const double in_body = std::max(0.0, change.pause_less_ms - changed.edges.fixed_per_step);
  changed.edges.fixed_per_step = std::max(0.0, changed.edges.fixed_per_step - change.pause_less_ms);
  shorten(change.body_less_ms + in_body, changed.bodies);
  return changed;
}

}  // namespace fullbore::diagnose::replay
