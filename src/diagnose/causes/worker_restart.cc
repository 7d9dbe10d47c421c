// persistent_workers=False: workers end with every epoch and start again with the next, and training waits for both.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Restarts {
  int count = 0;
  double stop_ns = 0;
  double start_ns = 0;
};

// Ends of passes, iterators made, and first waits until the worker had begun, all after warm-up.
Restarts find_restarts(const Situation& situation) {
  Restarts restarts;
  const Iterations& iterations = situation.iterations;
  for (const auto* iterator : situation.trainer->iterators) {
    if (iterator->begin_ns < iterations.whole_begin_ns || iterator->begin_ns > iterations.whole_end_ns) continue;
    if (iterator->workers <= 0 || (iterator->flags & wire::kReset) != 0) continue;
    ++restarts.count;
    restarts.start_ns += static_cast<double>(iterator->end_ns - iterator->begin_ns);
  }
  for (const EpochGap& gap : iterations.gaps) {
    if (gap.begin_ns >= iterations.whole_begin_ns)
      restarts.stop_ns += static_cast<double>(gap.stop_end_ns - gap.begin_ns);
  }
  const auto starting = situation.walk.whole.find(Doing::kStart);
  if (starting != situation.walk.whole.end()) restarts.start_ns += starting->second.ns;
  if (situation.walk.matched > 0) return restarts;
  // Without batch records: the first waits beyond a typical one.
  for (const Iteration& iteration : iterations.all) {
    if (iteration.first && iteration.begin_ns >= iterations.whole_begin_ns)
      restarts.start_ns += std::max(0.0, static_cast<double>(iteration.wait_ns()) - situation.wait_ms() * 1e6);
  }
  return restarts;
}

}  // namespace

std::optional<Cause> worker_restart(const Situation& situation) {
  if (!has_workers(situation) || situation.loader.persistent_workers.value_or(false)) return std::nullopt;
  const Restarts restarts = find_restarts(situation);
  if (restarts.count == 0 || situation.whole.total_ns <= 0) return std::nullopt;
  const double lost_ns = restarts.start_ns + restarts.stop_ns;
  const double share = lost_ns / situation.whole.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("worker_restart", share, situation);
  cause.stage = "worker_start";
  cause.gain = bound_without(share);
  cause.change.persistent = true;
  cause.change.words = "with workers that live on";
  const double per_epoch_ms = lost_ns / 1e6 / restarts.count;
  cause.summary = fmt::format(
      "Training stands still for {} at every epoch while {} worker{} end{} and start again "
      "(persistent_workers=False{}): {} "
      "of all time; keeping them would make it {}.",
      milliseconds(per_epoch_ms), *situation.loader.workers, *situation.loader.workers == 1 ? "" : "s",
      *situation.loader.workers == 1 ? "s" : "", situation.loader.where ? ", " + place(situation.loader.where) : "",
      percent(share), kFasterHere);
  add_evidence(cause, "restarts seen after warm-up", restarts.count, "", "hook");
  add_evidence(cause, "until new workers begin, per epoch", restarts.start_ns / 1e6 / restarts.count, "ms", "hook");
  add_evidence(cause, "until old workers are gone, per epoch", restarts.stop_ns / 1e6 / restarts.count, "ms", "hook");
  add_evidence(cause, "of all time", share, "share", "hook");
  const bool rebuilt = situation.trainer->loaders.size() > 1;
  cause.fix.text = rebuilt ? "build the DataLoader once, before the loop over epochs, with persistent_workers=True"
                           : "keep the workers between epochs";
  set_settings(cause, situation, {{"persistent_workers", "False", "True"}});
  cause.fix.risk =
      "datasets that are changed between epochs in the main process do not change in living workers; random "
      "augmentation draws from other random numbers from the second epoch on";
  return cause;
}

}  // namespace fullbore::diagnose
