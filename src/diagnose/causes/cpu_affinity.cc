// The cores that this job may run on are all busy while others of the machine are idle: a mask, not the machine, is the
// limit.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> cpu_affinity(const Situation& situation) {
  if (!affinity_limited(situation) || !waits(situation) || !waits_for_making(situation)) return std::nullopt;
  if (quota_limited(situation) || slow_maker(situation) != nullptr) return std::nullopt;
  const auto computing = situation.makers.blocked_share();
  if (computing && *computing >= 0.5) return std::nullopt;  // waits for something else than a core

  const Resources& resources = situation.resources;
  Cause cause = make_cause("cpu_affinity", situation.wait_share(), situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(cause.share);
  if (resources.rank_cores && resources.usable_cores)
    cause.change.cores =
        *resources.rank_cores * (1 + *resources.machine_free_cores / std::max(1e-9, *resources.usable_cores));
  cause.change.words = "with the idle cores too";
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} because this job may run on {} of {} only: they are busy while "
      "{:.1f} others are idle; with all of them it would be {}.",
      percent(cause.share), batches_for(cause.stage), cores(*resources.affinity_cores), cores(*resources.machine_cores),
      *resources.machine_free_cores, kFasterHere);
  add_evidence(cause, "cores that this job may use", resources.affinity_cores, "", "/proc/PID/status Cpus_allowed");
  add_evidence(cause, "cores of the machine", resources.machine_cores, "", "/proc/stat");
  add_evidence(cause, "idle cores of the machine", resources.machine_free_cores, "", "/proc/stat");
  add_evidence(cause, "in use by this job", resources.tree_cores, "", "/proc/PID/stat");
  add_wait_evidence(cause, situation);
  cause.fix.text =
      "allow more cores: taskset, numactl, the cpuset of the container (docker --cpuset-cpus), Slurm --cpus-per-task "
      "or "
      "--cpu-bind=none, or os.sched_setaffinity in the script; libraries set masks too (OMP_PROC_BIND, KMP_AFFINITY)";
  cause.where = cause.fix.where = std::nullopt;
  cause.fix.risk = "none for results";
  const auto workers = situation.loader.workers.value_or(0);
  cause.why_not.push_back(
      fmt::format("more workers than {}: they would share the same {}", workers, cores(*resources.affinity_cores)));
  return cause;
}

}  // namespace fullbore::diagnose
