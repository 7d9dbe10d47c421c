// The control group stops the job again and again: its quota is below the cores that the machine has.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> cpu_quota(const Situation& situation) {
  if (!quota_limited(situation) || !waits(situation) || !waits_for_making(situation)) return std::nullopt;
  if (slow_maker(situation) != nullptr) return std::nullopt;

  Cause cause = make_cause("cpu_quota", situation.wait_share(), situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(cause.share);
  const Resources& resources = situation.resources;
  const double cores_there =
      resources.affinity_cores.value_or(resources.machine_cores.value_or(*resources.quota_cores));
  if (resources.rank_cores && resources.usable_cores)
    cause.change.cores = cores_there * *resources.rank_cores / *resources.usable_cores;
  cause.change.words = "without the quota";
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} because the control group stops this job in {} of its periods: "
      "the quota is {}, the machine has {}; without the quota it would be {}.",
      percent(cause.share), batches_for(cause.stage), percent(*resources.throttled_periods),
      cores(*resources.quota_cores), cores(cores_there), kFasterHere);
  add_evidence(cause, "quota", resources.quota_cores, "cores", "cgroup cpu.max");
  add_evidence(cause, "periods in which the job was stopped", resources.throttled_periods, "share", "cgroup cpu.stat");
  add_evidence(cause, "cores of the machine", resources.machine_cores, "", "/proc/stat");
  add_wait_evidence(cause, situation);
  cause.fix.text =
      "raise the CPU limit of the container or job (docker --cpus, Kubernetes resources.limits.cpu, Slurm "
      "--cpus-per-task)";
  cause.fix.where = std::nullopt;
  cause.where = std::nullopt;
  cause.fix.risk = "none for results";
  const auto workers = situation.loader.workers.value_or(0);
  if (workers > 0 || *resources.quota_cores < 2)
    cause.why_not.push_back(
        fmt::format("more workers than {}: they would share the same {}", workers, cores(*resources.quota_cores)));
  return cause;
}

}  // namespace fullbore::diagnose
