// Training stops while checkpoints are written. Judged on the whole run: it does not show in a typical step.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Saves {
  int count = 0;
  double bytes = 0;
  bool bytes_known = false;
  std::optional<Location> where;  // of the one that took longest
};

Saves find_saves(const Situation& situation) {
  Saves saves;
  std::int64_t longest = -1;
  for (const auto* interval : intervals_of(situation, wire::IntervalKind::kCheckpoint)) {
    ++saves.count;
    if (interval->bytes != wire::kUnknown)
      saves.bytes += static_cast<double>(interval->bytes), saves.bytes_known = true;
    if (interval->end_ns - interval->begin_ns <= longest) continue;
    longest = interval->end_ns - interval->begin_ns;
    if (const auto where = place_of(situation, *interval)) saves.where = where;
  }
  return saves;
}

}  // namespace

std::optional<Cause> checkpoint_pause(const Situation& situation) {
  const double share = situation.whole.share(Claim::kCheckpoint);
  const Saves saves = find_saves(situation);
  if (share < kNoteShare || saves.count < 2) return std::nullopt;

  Cause cause = make_cause("checkpoint_pause", share, situation);
  cause.where = cause.fix.where = saves.where;
  cause.gain = bound_without(share);
  cause.change = without(Claim::kCheckpoint, situation, "without checkpoints");
  const double each_ms = situation.whole.claim_ns(Claim::kCheckpoint) / 1e6 / saves.count;
  cause.summary = fmt::format(
      "Training stands still for {} at each of {} checkpoints{}: {} of all time; without them it would be {}.",
      milliseconds(each_ms), saves.count, in_place(saves.where), percent(share), kFasterHere);
  add_evidence(cause, "checkpoints", saves.count, "", "hook");
  add_evidence(cause, "each", each_ms, "ms", "hook");
  if (saves.bytes_known) add_evidence(cause, "written by each", saves.bytes / 1e6 / saves.count, "MB", "hook");
  add_evidence(cause, "steps between them", static_cast<double>(situation.whole.iterations) / saves.count, "", "hook");
  cause.fix.text =
      "save less often, or copy the state to memory and write it in another thread "
      "(torch.distributed.checkpoint.async_save)";
  cause.fix.risk = "saving less often loses more work at a crash; the trained weights stay the same";
  cause.why_not.push_back("workers and prefetching: the loader is not what training waits for here");
  return cause;
}

}  // namespace fullbore::diagnose
