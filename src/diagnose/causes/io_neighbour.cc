// The device under the data gives no more, and others than this job take most of it.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> io_neighbour(const Situation& situation) {
  if (!waits_for_storage(situation) || !neighbour_reads(situation)) return std::nullopt;

  const Resources& resources = situation.resources;
  const double written = resources.device_write_bytes_per_s.value_or(0);
  const double all = *resources.device_read_bytes_per_s + written;
  const double own = std::min(all, *resources.tree_read_bytes_per_s);
  Cause cause = make_cause("io_neighbour", situation.wait_share(), situation);
  cause.stage = "read";
  cause.gain = bound_without(cause.share);
  // The same bytes at the rate that the device gives to all of them.
  cause.change = with_reads_at(all > 0 ? own / all : 1, situation, "with the disk to itself");
  if (const ProfiledLine* line = situation.stage_line("read")) cause.where = line->where;
  cause.fix.where = std::nullopt;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {}, which is busy for others: this job reads {:.1f} of the {:.1f} "
      "MB/s that it moves; alone on the disk training would be {}.",
      percent(cause.share), resources.device, own / 1e6, all / 1e6, kFasterHere);
  add_evidence(cause, resources.device + " moves", all / 1e6, "MB/s", "/proc/diskstats");
  add_evidence(cause, "of them written", written / 1e6, "MB/s", "/proc/diskstats");
  add_evidence(cause, "read by this job", own / 1e6, "MB/s", "/proc/PID/io");
  add_evidence(cause, resources.device + " busy", resources.device_busy, "share", "/proc/diskstats");
  add_evidence(cause, resources.device + " requests waiting", resources.device_queue, "", "/proc/diskstats");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  cause.fix.text = fmt::format(
      "find who else uses {} (iotop -o, or pidstat -d 1) and move it to another disk or time, or put the data on a "
      "disk "
      "of its own",
      resources.device);
  cause.fix.risk = "none for results";
  cause.why_not.push_back("more workers: they gain a larger part of a full disk only by pushing the others aside");
  return cause;
}

}  // namespace fullbore::diagnose
