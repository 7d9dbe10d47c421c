// Samples wait for many small requests: the disk is at the number of them that it answers in a second, or takes
// milliseconds for each. Bytes per second are few either way.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

std::string sentence(const Situation& situation, const Cause& cause, const std::string& device) {
  const Resources& resources = situation.resources;
  const std::string kilobytes = fmt::format("{:.0f} kB", request_bytes(situation).value_or(0) / 1e3);
  const std::string why =
      at_request_limit(situation)
          ? fmt::format("answers {:.0f} requests a second of {} each and is limited to {:.0f}",
                        *resources.device_reads_per_s, kilobytes, *resources.device_limit_reads_per_s)
          : fmt::format("takes {} for each request of {}", milliseconds(*resources.device_read_ms), kilobytes);
  return fmt::format(
      "The training loop waits {} of each step for {}, which {}; fewer and larger reads would make training {}.",
      percent(cause.share), device, why, kFasterHere);
}

}  // namespace

std::optional<Cause> storage_latency(const Situation& situation) {
  if (!waits_for_storage(situation) || !requests_limited(situation)) return std::nullopt;
  if (slow_maker(situation) != nullptr) return std::nullopt;

  const Resources& resources = situation.resources;
  const bool limited = at_request_limit(situation);
  Cause cause = make_cause("storage_latency", situation.wait_share(), situation);
  cause.stage = "read";
  cause.gain = bound_without(cause.share);
  cause.change = with_reads_at(0, situation, "with reads that cost no time");
  if (const ProfiledLine* line = situation.stage_line("read")) cause.where = cause.fix.where = line->where;
  const std::string device = resources.device.empty() ? "the disk" : resources.device;
  cause.summary = sentence(situation, cause, device);
  add_evidence(cause, device + " requests", resources.device_reads_per_s, "1/s", "/proc/diskstats");
  add_evidence(cause, "limit of the control group", resources.device_limit_reads_per_s, "1/s", "cgroup io.max");
  add_evidence(cause, "bytes per request", request_bytes(situation), "B", "/proc/diskstats");
  add_evidence(cause, "time per request", resources.device_read_ms, "ms", "/proc/diskstats");
  add_evidence(cause, device + " requests waiting", resources.device_queue, "", "/proc/diskstats");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  cause.fix.text =
      "store the samples in the order in which they are read and read them in large pieces (shards that "
      "are shuffled as a whole), or put the data into memory or on a disk that answers faster";
  const std::int64_t now = situation.loader.workers.value_or(0);
  const int workers = recommended_workers(situation);
  if (!limited && workers > now) {
    cause.fix.text += fmt::format("; until then {} workers keep more requests in flight", workers);
    cause.fix.where = situation.loader.where;
    set_settings(cause, situation, {{"num_workers", std::to_string(now), std::to_string(workers)}});
  }
  cause.fix.risk = "shuffling whole shards mixes samples less than shuffling all of them";
  cause.why_not.push_back("a disk of more MB/s: it is not bytes that samples wait for");
  if (limited) cause.why_not.push_back("more workers: they would share the same number of requests");
  return cause;
}

}  // namespace fullbore::diagnose
