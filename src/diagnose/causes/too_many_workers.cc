// Many more workers than cores: they stand in line for a core and push the training thread aside; fewer would give the
// same rate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Share of the steady time in which the training thread could run and had no core.
std::optional<double> pushed_aside(const Situation& situation) {
  double runq_ns = 0;
  bool known = false;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr) continue;
    for (const std::int64_t ns : {iteration.next->runq_ns, iteration.next->loop_runq_ns}) {
      if (ns == wire::kUnknown) continue;
      known = true;
      runq_ns += static_cast<double>(ns);
    }
  }
  if (!known || situation.steady.total_ns <= 0) return std::nullopt;
  return std::min(1.0, runq_ns / situation.steady.total_ns);
}

// Share of all time in which the loop waited for a batch whose worker could run and had no core. On the whole run:
// where workers keep up otherwise, they still make the first batches of an epoch all at once.
double waited_in_line(const Situation& situation) {
  double runq_ns = 0;
  for (const auto& [doing, spent] : situation.walk.whole) runq_ns += spent.runq_ns;
  return situation.whole.total_ns > 0 ? runq_ns / situation.whole.total_ns : 0;
}

// Fewer workers save the standing in line, but not the work.
Gain bound(const Situation& situation, double share) {
  Gain gain = bound_without(share);
  const Resources& resources = situation.resources;
  if (resources.usable_cores && resources.tree_cores && *resources.tree_cores > 0)
    gain.max = std::clamp(*resources.usable_cores / *resources.tree_cores, 1.0, *gain.max);
  return gain;
}

}  // namespace

std::optional<Cause> too_many_workers(const Situation& situation) {
  if (!crowded(situation) || quota_limited(situation)) return std::nullopt;
  const auto aside = pushed_aside(situation);
  const double share = std::max(waited_in_line(situation), aside.value_or(0));
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("too_many_workers", share, situation);
  cause.stage = situation.stage();
  const std::int64_t now = *situation.loader.workers;
  const int workers = std::max(1, static_cast<int>(std::floor(*situation.resources.rank_cores)));
  cause.gain = bound(situation, share);
  // No change for the replay: cores that are shared evenly do the same work for any number of workers, and what
  // crowding costs beyond that (caches, memory, the loop's own thread that wakes too late) it does not know.
  cause.summary = fmt::format(
      "{} workers share {}{}: for {} of the time in which they make batches they only stand in line for a core; {} "
      "would do the same work{}.",
      now, cores(*situation.resources.rank_cores), in_place(situation.loader.where),
      percent(*situation.makers.runnable_share()), workers,
      aside.value_or(0) >= kNoteShare
          ? fmt::format(" and stop pushing the training thread aside ({} of each step)", percent(*aside))
          : "");
  add_evidence(cause, "workers", static_cast<double>(now), "", "hook");
  add_evidence(cause, "usable cores", situation.resources.rank_cores, "", "affinity, cpuset, quota");
  add_evidence(cause, "making batches: ready but without a core", situation.makers.runnable_share(), "share",
               "/proc/PID/schedstat");
  add_evidence(cause, "training thread: ready but without a core", aside, "share", "/proc/PID/schedstat");
  cause.fix.text = fmt::format("use {} worker{} instead of {}", workers, workers == 1 ? "" : "s", now);
  set_settings(cause, situation, {{"num_workers", std::to_string(now), std::to_string(workers)}});
  cause.fix.risk = "the same samples in the same order; random augmentation draws from other random numbers";
  cause.why_not.push_back("more workers: no core is free to run them");
  return cause;
}

}  // namespace fullbore::diagnose
