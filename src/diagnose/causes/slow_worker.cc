// One worker takes twice as long as the others for the same kind of sample, throughout; in order of delivery everybody
// waits for it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

double others_ms(const Situation& situation, const Maker& slow) {
  std::vector<double> others;
  for (const Maker& maker : situation.makers.workers) {
    if (&maker != &slow && maker.sample_ns) others.push_back(*maker.sample_ns / 1e6);
  }
  return median(std::move(others)).value_or(0);
}

// Wait for the slow worker's batches beyond what as many batches of the others cost.
double extra_wait_ns(const Situation& situation, const Maker& slow) {
  const auto& by_worker = situation.walk.by_worker;
  const auto own = by_worker.find(slow.worker);
  if (own == by_worker.end()) return 0;
  double others = 0;
  for (const auto& [worker, ns] : by_worker) {
    if (worker != slow.worker) others += ns;
  }
  const double others_mean =
      others / static_cast<double>(std::max<std::size_t>(1, situation.makers.workers.size() - 1));
  return std::max(0.0, own->second - others_mean);
}

}  // namespace

std::optional<Cause> slow_worker(const Situation& situation) {
  const Maker* slow = waits(situation) ? slow_maker(situation) : nullptr;
  if (slow == nullptr || situation.steady.total_ns <= 0) return std::nullopt;
  const double share = extra_wait_ns(situation, *slow) / situation.steady.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("slow_worker", share, situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(share);
  cause.change.even_worker = slow->worker;
  cause.change.words = fmt::format("with worker {} at its neighbours' pace", slow->worker);
  const double ms = *slow->sample_ns / 1e6, typical_ms = others_ms(situation, *slow);
  cause.summary = fmt::format(
      "The training loop waits {} of each step for worker {}, which takes {} per sample where the others take {}{}; at "
      "its neighbours' pace training would be {}.",
      percent(share), slow->worker, milliseconds(ms), milliseconds(typical_ms), in_place(situation.loader.where),
      kFasterHere);
  add_evidence(cause, fmt::format("typical sample in worker {}", slow->worker), ms, "ms", "hook");
  add_evidence(cause, "typical sample in the other workers", typical_ms, "ms", "hook");
  add_evidence(cause, "wait with a later batch already there",
               situation.walk.head_of_line_ns / std::max(1.0, situation.walk.wait_ns), "share", "hook");
  add_evidence(cause, fmt::format("worker {} busy", slow->worker), slow->busy, "share", "hook");
  add_evidence(cause, "workers busy, mean", situation.makers.busy, "share", "hook");
  cause.fix.text = fmt::format(
      "find what is different in worker {} (its shard, worker_init_fn, its cores, what depends on "
      "get_worker_info().id); "
      "where order does not matter, in_order=False (torch 2.6 and newer) keeps the others going",
      slow->worker);
  cause.fix.risk = "in_order=False changes the order of batches; nothing else";
  cause.why_not.push_back("more workers: finished batches already wait in line behind this one worker");
  return cause;
}

}  // namespace fullbore::diagnose
