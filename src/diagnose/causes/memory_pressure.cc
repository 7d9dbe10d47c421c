// The job holds more memory than it may use: pages are taken away and brought back, in whoever touches them. Seen as
// slow samples, slow collating and slow everything.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

std::optional<double> mebibytes(std::optional<double> bytes) {
  return bytes ? std::optional(*bytes / 1048576) : std::nullopt;
}

std::string symptom(const Resources& memory) {
  if (memory.memory_pressure)
    return fmt::format("something waits for memory in {} of the time", percent(*memory.memory_pressure));
  return fmt::format("{:.0f} MB/s are read back from swap", memory.swap_in_bytes_per_s.value_or(0) / 1e6);
}

std::string room(const Resources& memory) {
  if (memory.memory_limit)
    return fmt::format("{:.0f} MiB of its own in a limit of {:.0f} MiB", memory.memory_anon.value_or(0) / 1048576,
                       *memory.memory_limit / 1048576);
  return fmt::format("all but {:.0f} MiB of the machine", memory.memory_available.value_or(0) / 1048576);
}

}  // namespace

std::optional<Cause> memory_pressure(const Situation& situation) {
  if (!waits(situation) || !memory_short(situation)) return std::nullopt;

  const Resources& memory = situation.resources;
  Cause cause = make_cause("memory_pressure", situation.wait_share(), situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(cause.share);
  // No change for the replay: what of a sample's time went into getting memory back no record says.
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} while memory runs short: the job holds {}, and {}; with room for "
      "all of it training would be {}.",
      percent(cause.share), batches_for(cause.stage), room(memory), symptom(memory), kFasterHere);
  add_evidence(cause, "waiting for memory (pressure)", memory.memory_pressure, "share", "memory.pressure");
  add_evidence(cause, "limit", mebibytes(memory.memory_limit), "MiB", "cgroup memory limit");
  add_evidence(cause, "in use", mebibytes(memory.memory_used), "MiB", "cgroup");
  add_evidence(cause, "of that anonymous", mebibytes(memory.memory_anon), "MiB", "cgroup memory.stat");
  add_evidence(cause, "page faults that had to read", memory.major_faults_per_s, "1/s", "/proc/PID/stat");
  if (memory.swap_in_bytes_per_s)
    add_evidence(cause, "read back from swap", *memory.swap_in_bytes_per_s / 1e6, "MB/s", "/proc/vmstat");
  add_wait_evidence(cause, situation);
  const std::int64_t workers = situation.loader.workers.value_or(0);
  cause.fix.text =
      "keep less in memory: what a dataset caches exists once per worker (map one file instead, numpy.memmap, "
      "so that all share it)";
  if (workers > 1) {
    cause.fix.text += fmt::format(", or use fewer workers than {}", workers);
    set_settings(cause, situation, {{"num_workers", std::to_string(workers), std::to_string((workers + 1) / 2)}});
  }
  if (memory.memory_limit)
    cause.fix.text += "; or raise the memory limit (docker --memory, Kubernetes resources.limits.memory, Slurm --mem)";
  cause.fix.risk = "fewer workers make batches more slowly once memory suffices: compare both";
  cause.why_not.push_back("more workers or a larger prefetch_factor: each of them needs memory of its own");
  return cause;
}

}  // namespace fullbore::diagnose
