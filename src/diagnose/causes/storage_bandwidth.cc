// Samples wait for bytes that come from the device and not from the page cache, and the device gives no more.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

std::optional<double> megabytes(std::optional<double> bytes) {
  return bytes ? std::optional(*bytes / 1e6) : std::nullopt;
}

}  // namespace

std::optional<Cause> storage_bandwidth(const Situation& situation) {
  if (!waits_for_storage(situation) || !storage_limited(situation)) return std::nullopt;
  if (opens_dominate(situation)) return std::nullopt;

  const Resources& resources = situation.resources;
  Cause cause = make_cause("storage_bandwidth", situation.wait_share(), situation);
  cause.stage = "read";
  cause.gain = bound_without(cause.share);
  cause.change.device_bytes = 0;
  cause.change.words = "with the data in memory";
  const ProfiledLine* line = situation.stage_line("read");
  if (line != nullptr) cause.where = cause.fix.where = line->where;
  const std::string device = resources.device.empty() ? "the storage" : resources.device;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {}, which gives no more than {:.0f} MB/s{}; with the data in memory "
      "training would be {}.",
      percent(cause.share), device,
      resources.device_read_bytes_per_s.value_or(resources.tree_read_bytes_per_s.value_or(0)) / 1e6,
      in_place(line ? std::optional(line->where) : std::nullopt), kFasterHere);
  const auto& totals = situation.makers.totals;
  if (totals.read_bytes && totals.read_chars.value_or(0) > 0)
    add_evidence(cause, "bytes from the device, of those asked for", *totals.read_bytes / *totals.read_chars, "share",
                 "/proc/PID/io");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  add_evidence(cause, device + " reads", megabytes(resources.device_read_bytes_per_s), "MB/s", "/proc/diskstats");
  add_evidence(cause, device + " busy", resources.device_busy, "share", "/proc/diskstats");
  add_evidence(cause, device + " requests waiting", resources.device_queue, "", "/proc/diskstats");
  add_evidence(cause, "limit of the control group", megabytes(resources.device_limit_bytes_per_s), "MB/s",
               "cgroup io.max");
  cause.fix.text = resources.device_limit_bytes_per_s
                       ? "raise the I/O limit of the control group, or put the data on a faster disk or into memory"
                       : "put the data on a faster disk or into memory, or store fewer bytes per sample (smaller "
                         "pictures, compression)";
  cause.fix.risk = "none if the same samples are read";
  cause.why_not.push_back("more workers: the device is at its limit, they would wait for it together");
  return cause;
}

}  // namespace fullbore::diagnose
