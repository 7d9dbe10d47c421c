// The workers make batches fast enough on average, but the loop wants them in bursts, or they come in bursts, and too
// few are kept ready for that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Workers that idle for less than this make batches as fast as they can: depth cannot help.
constexpr double kIdle = 0.1;
constexpr double kSlowSamples = 0.3;  // of the wait: above it slow_samples says which
// The replay of the present depth must explain the run this well (in points of the step), or it says nothing of
// another.
constexpr double kExplained = 0.1;
constexpr double kRemoved = 0.6;  // of the wait, for a change to be worth its memory
constexpr int kDeepest = 16;
constexpr int kDefaultDepth = 2;  // of torch, where none is given

// The loader as it ran after warm-up: what each batch took to make, in order, and each loop body.
struct Recorded {
  std::vector<double> making_ns, body_ns;
  std::size_t workers = 1;
};

Recorded recorded(const Situation& situation) {
  Recorded out;
  out.workers = static_cast<std::size_t>(*situation.loader.workers);
  std::vector<const wire::BatchRecord*> batches;
  for (const Maker& maker : situation.makers.workers) {
    for (const Made& made : maker.made) {
      if (made.batch->begin_ns >= situation.iterations.whole_begin_ns) batches.push_back(made.batch);
    }
  }
  std::ranges::sort(batches, {}, [](const wire::BatchRecord* batch) { return batch->begin_ns; });
  for (const auto* batch : batches) out.making_ns.push_back(static_cast<double>(batch->put_ns - batch->begin_ns));
  for (const Iteration& iteration : situation.iterations.all) {
    if (iteration.begin_ns >= situation.iterations.whole_begin_ns && !iteration.hole)
      out.body_ns.push_back(static_cast<double>(iteration.end_ns - iteration.wait_end_ns));
  }
  return out;
}

// Share of the time that the loop would wait with `depth` batches asked of each worker: torch sends the indices of
// batch i when batch i - depth x workers is taken, to the workers in turn, and delivers in order.
double wait_share_at_depth(const Recorded& run, int depth) {
  const std::size_t count = std::min(run.making_ns.size(), run.body_ns.size());
  const std::size_t ahead = run.workers * static_cast<std::size_t>(depth);
  std::vector<double> taken(count), free(run.workers, 0);
  double clock = 0, waited = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double& worker = free[i % run.workers];
    worker = std::max(worker, i < ahead ? 0 : taken[i - ahead]) + run.making_ns[i];
    taken[i] = std::max(clock, worker);
    if (i >= run.workers) waited += taken[i] - clock;  // the first of each worker are nobody's fault
    clock = taken[i] + run.body_ns[i];
  }
  return clock > 0 ? waited / clock : 0;
}

}  // namespace

std::optional<Cause> shallow_prefetch(const Situation& situation) {
  if (!has_workers(situation) || !waits(situation) || !waits_for_making(situation)) return std::nullopt;
  if (situation.makers.busy.value_or(1) > 1 - kIdle || slow_maker(situation) != nullptr) return std::nullopt;
  if (crowded(situation) || situation.walk.slow_sample_ns >= kSlowSamples * situation.walk.wait_ns) return std::nullopt;
  const int now = static_cast<int>(situation.loader.prefetch_factor.value_or(kDefaultDepth));
  const Recorded run = recorded(situation);
  const double before = wait_share_at_depth(run, now);
  if (run.making_ns.empty() || std::abs(before - situation.wait_share()) > kExplained) return std::nullopt;
  int depth = now;
  double after = before;
  while (depth < kDeepest && after > (1 - kRemoved) * before) after = wait_share_at_depth(run, depth *= 2);
  const double share = situation.wait_share() - std::min(after, situation.wait_share());
  if (share < kNoteShare || after > (1 - kRemoved) * before) return std::nullopt;

  Cause cause = make_cause("shallow_prefetch", share, situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(share);
  cause.summary = fmt::format(
      "The training loop waits {} of each step although the workers idle {} of their time: batches are wanted or made "
      "in bursts, and {} in flight per worker{} are too few; {} would make it at most {} faster.",
      percent(situation.wait_share()), percent(1 - *situation.makers.busy), now, in_place(situation.loader.where),
      depth, factor(*cause.gain.max));
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  add_evidence(cause, "wait, replayed with the present depth", before, "share", "hook");
  add_evidence(cause, fmt::format("wait, replayed with {}", depth), after, "share", "hook");
  add_evidence(cause, "longest step (p99)", situation.steps.p99_ms, "ms", "hook");
  if (situation.loader.batch_mb)
    add_evidence(cause, "memory for batches in flight",
                 *situation.loader.batch_mb * depth * static_cast<double>(*situation.loader.workers), "MB", "hook");
  cause.fix.text = fmt::format("let each worker work {} batches ahead", depth);
  const auto given = situation.loader.prefetch_factor;
  set_settings(cause, situation, {{"prefetch_factor", given ? std::to_string(*given) : "None", std::to_string(depth)}});
  cause.fix.risk = "the same batches; more of them lie in shared memory at a time";
  cause.why_not.push_back(fmt::format("more workers than {}: these have time left", *situation.loader.workers));
  return cause;
}

}  // namespace fullbore::diagnose
