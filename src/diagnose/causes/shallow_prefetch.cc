// The workers make batches fast enough on average, but the loop wants them in bursts, or they come in bursts, and too
// few are kept ready for that.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"
#include "diagnose/replay/predict.h"

namespace fullbore::diagnose {
namespace {

// Workers that idle for less than this make batches as fast as they can: depth cannot help.
constexpr double kIdle = 0.1;
constexpr double kSlowSamples = 0.3;  // of the wait: above it slow_samples says which
constexpr double kRemoved = 0.6;      // of the wait, for a change to be worth its memory
constexpr int kDeepest = 16;
constexpr int kDefaultDepth = 2;  // of torch, where none is given

Change to_depth(int depth) {
  Change change;
  change.prefetch = depth;
  change.words = fmt::format("with {} batches ahead per worker", depth);
  return change;
}

// The least of twice, four times ... the present depth at which a replay no longer waits for most of what it waits for
// now; nullopt if none does, or the replay does not explain the run.
struct Deeper {
  int depth;
  double wait_ms;
};
std::optional<Deeper> deep_enough(const Situation& situation, int now) {
  const double before_ms = situation.replay.now.wait_ms;
  for (int depth = 2 * now; depth <= kDeepest; depth *= 2) {
    const auto deeper = replay::predict(situation.replay, to_depth(depth));
    if (!deeper) return std::nullopt;
    if (deeper->outcome.wait_ms <= (1 - kRemoved) * before_ms) return Deeper{depth, deeper->outcome.wait_ms};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Cause> shallow_prefetch(const Situation& situation) {
  if (!has_workers(situation) || !waits(situation) || !waits_for_making(situation)) return std::nullopt;
  if (situation.makers.busy.value_or(1) > 1 - kIdle || slow_maker(situation) != nullptr) return std::nullopt;
  if (crowded(situation) || situation.walk.slow_sample_ns >= kSlowSamples * situation.walk.wait_ns) return std::nullopt;
  const int now = static_cast<int>(situation.loader.prefetch_factor.value_or(kDefaultDepth));
  const auto deeper = deep_enough(situation, now);
  if (!deeper) return std::nullopt;
  const double before_ms = situation.replay.now.wait_ms;
  const double share = situation.wait_share() * (1 - deeper->wait_ms / before_ms);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("shallow_prefetch", share, situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(share);
  cause.change = to_depth(deeper->depth);
  cause.summary = fmt::format(
      "The training loop waits {} of each step although the workers idle {} of their time: batches are wanted or made "
      "in bursts, and {} in flight per worker{} are too few; {} would make it {}.",
      percent(situation.wait_share()), percent(1 - *situation.makers.busy), now, in_place(situation.loader.where),
      deeper->depth, kFasterHere);
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  add_evidence(cause, "waiting per step, replayed with the present depth", before_ms, "ms", "replay");
  add_evidence(cause, fmt::format("the same, replayed with {}", deeper->depth), deeper->wait_ms, "ms", "replay");
  add_evidence(cause, "longest step (p99)", situation.steps.p99_ms, "ms", "hook");
  if (situation.loader.batch_mb)
    add_evidence(cause, "memory for batches in flight",
                 *situation.loader.batch_mb * deeper->depth * static_cast<double>(*situation.loader.workers), "MB",
                 "hook");
  cause.fix.text = fmt::format("let each worker work {} batches ahead", deeper->depth);
  const auto given = situation.loader.prefetch_factor;
  set_settings(cause, situation,
               {{"prefetch_factor", given ? std::to_string(*given) : "None", std::to_string(deeper->depth)}});
  cause.fix.risk = "the same batches; more of them lie in shared memory at a time";
  cause.why_not.push_back(fmt::format("more workers than {}: these have time left", *situation.loader.workers));
  return cause;
}

}  // namespace fullbore::diagnose
