// The data set does not fit what memory leaves for the page cache, so every pass reads it from the device again. More
// memory, or fewer bytes, and all passes but the first would read from memory.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> cache_thrash(const Situation& situation) {
  if (!waits_for_storage(situation) || !set_thrashes(situation)) return std::nullopt;

  const Resources& resources = situation.resources;
  const double set_mib = *set_bytes(situation) / 1048576, room_mib = *resources.cache_room / 1048576;
  const Pass& first = situation.passes.front();
  const Pass later = later_passes(situation.passes);
  Cause cause = make_cause("cache_thrash", situation.wait_share(), situation);
  cause.stage = "read";
  cause.gain = bound_without(cause.share);
  cause.change = with_reads_at(0, situation, "with the data in memory");
  if (const ProfiledLine* line = situation.stage_line("read")) cause.where = line->where;
  cause.fix.where = std::nullopt;
  cause.summary = fmt::format(
      "The training loop waits {} of each step because every pass reads the data from the device again: a pass has "
      "{:.0f} "
      "MiB, and {} leaves {:.0f} MiB for the page cache; with the data in memory training would be {}.",
      percent(cause.share), set_mib, resources.memory_limit ? "the memory limit of the control group" : "memory",
      room_mib, kFasterHere);
  add_evidence(cause, "data read by one pass", set_mib, "MiB", "/proc/PID/io");
  add_evidence(cause, "room for the page cache", room_mib, "MiB",
               resources.memory_limit ? "cgroup memory limit, less anonymous memory" : "/proc/meminfo");
  add_evidence(cause, "from the device per batch, first pass", first.bytes_per_batch() / 1e6, "MB", "/proc/PID/io");
  add_evidence(cause, "the same, later passes", later.bytes_per_batch() / 1e6, "MB", "/proc/PID/io");
  if (resources.refault_bytes_per_s)
    add_evidence(cause, "read again soon after it was dropped", *resources.refault_bytes_per_s / 1e6, "MB/s",
                 resources.memory_limit ? "cgroup memory.stat" : "/proc/vmstat");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  cause.fix.text =
      resources.memory_limit
          ? fmt::format(
                "raise the memory limit of the container or job by {:.0f} MiB or more (docker "
                "--memory, Kubernetes resources.limits.memory, Slurm --mem), or store fewer bytes "
                "per sample",
                set_mib - room_mib)
          : "store fewer bytes per sample so that the set fits into memory, or free memory (fewer workers, "
            "smaller caches)";
  cause.fix.risk = "none for results";
  cause.why_not.push_back("waiting for a warm cache: a page is dropped before the next pass asks for it");
  cause.why_not.push_back("more workers: they would take memory from the page cache");
  return cause;
}

}  // namespace fullbore::diagnose
