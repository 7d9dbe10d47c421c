// All workers are busy all the time and the loop still waits, while cores are free or samples need none.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

int more_workers(const Situation& situation) {
  const int now = static_cast<int>(*situation.loader.workers);
  const double room = blocked_mostly(situation) ? 4.0 * now : now + situation.resources.free_cores.value_or(1) + 0.3;
  return std::max(now + 1, std::min(recommended_workers(situation), static_cast<int>(room)));
}

}  // namespace

std::optional<Cause> too_few_workers(const Situation& situation) {
  if (!has_workers(situation) || !waits(situation) || !waits_for_making(situation)) return std::nullopt;
  if (!all_busy(situation) || slow_maker(situation) != nullptr) return std::nullopt;
  if (!core_free(situation) && !blocked_mostly(situation)) return std::nullopt;
  if (oversubscribed(situation)) return std::nullopt;
  if (storage_explains(situation) || opens_dominate(situation) || quota_limited(situation)) return std::nullopt;

  Cause cause = make_cause("too_few_workers", situation.wait_share(), situation);
  cause.stage = situation.stage();
  const std::int64_t now = *situation.loader.workers;
  const int workers = more_workers(situation);
  cause.change.workers = workers;
  cause.change.words = fmt::format("with {} workers", workers);
  const auto kept = cost_with_kept_memory(situation);
  if (kept) {
    cause.change.sample_cpu = *kept;
    cause.change.words += " that keep the memory they free";
  }
  cause.gain = blocked_mostly(situation) ? bound_without(cause.share)
                                         : bound_with_cores(situation, cause.share, kept.value_or(1));
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} in {} worker{} that {} busy all the time{}, while {}; {} "
      "would make it {}.",
      percent(cause.share), batches_for(cause.stage), now, now == 1 ? "" : "s", now == 1 ? "is" : "are",
      in_place(situation.loader.where), blocked_mostly(situation) ? "samples mostly wait for I/O" : "cores are free",
      workers, kFasterHere);
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  add_wait_evidence(cause, situation);
  if (kept) add_memory_evidence(cause, situation);
  add_evidence(cause, "free cores", situation.resources.free_cores, "", "/proc/PID/stat");
  cause.fix.text = fmt::format("use {} workers instead of {}", workers, now);
  std::vector<Setting> settings = {{"num_workers", std::to_string(now), std::to_string(workers)}};
  if (kept) {
    cause.fix.text += fmt::format(", and {}", kKeepFreedMemory);
    settings.push_back(keep_freed_memory());
  }
  set_settings(cause, situation, std::move(settings));
  cause.fix.risk =
      "the same samples in the same order; random augmentation draws from other random numbers, and each "
      "worker needs its memory";
  if (situation.loader.prefetch_factor)
    cause.why_not.push_back(
        fmt::format("a larger prefetch_factor than {}: no batch is ever ready ahead, so there is nothing "
                    "more to keep",
                    *situation.loader.prefetch_factor));
  return cause;
}

}  // namespace fullbore::diagnose
