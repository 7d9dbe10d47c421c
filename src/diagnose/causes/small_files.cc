// Most of a sample is spent opening its file, not reading or decoding it: many small files, a slow directory, a network
// mount or a scanner in between.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> small_files(const Situation& situation) {
  if (!waits(situation) || !waits_for_making(situation) || !opens_dominate(situation)) return std::nullopt;
  if (network_reads(situation)) return std::nullopt;
  // Reading belongs to it where files are small, see opens_dominate().
  const bool many = situation.profile.dataset.main_stage() != wire::Stage::kOpen;
  const double share =
      situation.wait_share() * (situation.stage_share("open") + (many ? situation.stage_share("read") : 0));
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("small_files", share, situation);
  cause.stage = "open";
  cause.gain = bound_without(share);
  const ProfiledLine* line = situation.stage_line("open");
  if (line != nullptr) cause.where = cause.fix.where = line->where;
  const auto& totals = situation.makers.totals;
  const PlaceProfile& samples = situation.profile.dataset;
  const double open_share = samples.share(wire::Stage::kOpen) + (many ? samples.share(wire::Stage::kRead) : 0);
  cause.change.sample_cpu = cause.change.sample_blocked = std::max(0.0, 1 - open_share);
  cause.change.words = many ? "with the files packed" : "without opening files";
  std::optional<double> open_ms, kilobytes;
  if (totals.samples > 0) open_ms = totals.fetch_ns / 1e6 / totals.samples * open_share;
  if (totals.samples > 0 && totals.read_chars) kilobytes = *totals.read_chars / 1e3 / totals.samples;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for files to be opened{}: {} takes {} of making a sample{}; "
      "without it training would be {}.",
      percent(share), in_place(line ? std::optional(line->where) : std::nullopt),
      many ? fmt::format("opening and reading {:.0f} small files", samples.opens_per_window) : "opening",
      percent(open_share), open_ms ? fmt::format(" ({})", milliseconds(*open_ms)) : "", kFasterHere);
  add_evidence(cause, many ? "opening and reading files, of a sample" : "opening files, of a sample", open_share,
               "share", "hook, line timing");
  add_evidence(cause, "that is, per sample", open_ms, "ms", "hook");
  if (samples.opens_per_window > 0)
    add_evidence(cause, "files opened per sample", samples.opens_per_window, "", "hook");
  add_evidence(cause, "read per sample", kilobytes, "kB", "/proc/PID/io");
  add_evidence(cause, "making samples: blocked", situation.makers.blocked_share(), "share", "/proc/PID/schedstat");
  add_evidence(cause, "free cores", situation.resources.free_cores, "", "/proc/PID/stat");
  cause.fix.text =
      "pack the samples into a few large files (tar shards, one array, a database) and open those once per worker";
  if (blocked_mostly(situation) && has_workers(situation))
    cause.fix.text +=
        fmt::format("; until then more than {} workers can open at the same time", *situation.loader.workers);
  cause.fix.risk = "none if the same samples come in the same order";
  cause.why_not.push_back("a faster disk: the time goes into opening, not into reading bytes");
  return cause;
}

}  // namespace fullbore::diagnose
