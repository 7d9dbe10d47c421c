// Samples wait for a server: their files lie on a network or FUSE file system, or the dataset fetches them by itself.
// Nothing is used up here; each request simply takes its way there and back.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

std::string origin(const Situation& situation) {
  const std::string library = remote_library(situation);
  if (!library.empty()) return "a remote service (" + library + ")";
  return "files on a " + situation.resources.mount_type + " file system";
}

// Opening and reading, per sample.
std::optional<double> file_ms(const Situation& situation) {
  const MakerTotals& totals = situation.makers.totals;
  const PlaceProfile& samples = situation.profile.dataset;
  if (totals.samples <= 0 || !samples.measured()) return std::nullopt;
  return totals.fetch_ns / 1e6 / totals.samples *
         (samples.share(wire::Stage::kOpen) + samples.share(wire::Stage::kRead));
}

}  // namespace

std::optional<Cause> network_storage(const Situation& situation) {
  if (!waits_for_storage(situation) || !network_reads(situation)) return std::nullopt;
  if (slow_maker(situation) != nullptr || quota_limited(situation)) return std::nullopt;

  Cause cause = make_cause("network_storage", situation.wait_share(), situation);
  const PlaceProfile& samples = situation.profile.dataset;
  cause.stage = samples.share(wire::Stage::kOpen) > samples.share(wire::Stage::kRead) ? "open" : "read";
  cause.gain = bound_without(cause.share);
  cause.change = with_reads_at(0, situation, "with reads that cost no time");
  const ProfiledLine* line = situation.stage_line(cause.stage);
  if (line != nullptr) cause.where = line->where;
  const auto per_sample_ms = file_ms(situation);
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {}{}{}{}; with the data on a "
      "local disk training would be {}.",
      percent(cause.share), origin(situation), in_place(line ? std::optional(line->where) : std::nullopt),
      per_sample_ms ? fmt::format(", {} per sample", milliseconds(*per_sample_ms)) : "",
      core_free(situation) ? ", while cores are free" : "", kFasterHere);
  add_evidence(cause, "opening and reading, per sample", per_sample_ms, "ms", "hook, line timing");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  add_evidence(cause, "files opened per sample",
               samples.measured() ? std::optional(samples.opens_per_window) : std::nullopt, "", "hook");
  add_evidence(cause, "free cores", situation.resources.free_cores, "", "/proc/PID/stat");
  add_wait_evidence(cause, situation);
  cause.fix.text =
      "copy the data to a local disk once, before training, or pack the samples into large files that are "
      "read in one go";
  const std::int64_t now = situation.loader.workers.value_or(0);
  const int workers = recommended_workers(situation);
  if (workers > now) {
    cause.fix.text += fmt::format("; until then {} workers keep more requests on their way", workers);
    set_settings(cause, situation, {{"num_workers", std::to_string(now), std::to_string(workers)}});
  }
  cause.fix.risk = "none if the same samples are read";
  cause.why_not.push_back("a faster local disk or more cores: neither is what samples wait for");
  return cause;
}

}  // namespace fullbore::diagnose
