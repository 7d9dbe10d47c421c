// The first pass reads from the device, later ones find the data in the page cache: the wait of the first pass says
// nothing of those to come. Judged on the whole run.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// What the first pass waited beyond what later ones wait for as many batches.
double extra_wait_ns(const Pass& first, const Pass& later) {
  return std::max(0.0, first.wait_ns - later.wait_per_iteration_ns() * static_cast<double>(first.iterations));
}

}  // namespace

std::optional<Cause> cold_cache(const Situation& situation) {
  if (!situation.wait_known || !warmed_up(situation) || situation.whole.total_ns <= 0) return std::nullopt;
  const Pass& first = situation.passes.front();
  const Pass later = later_passes(situation.passes);
  if (first.iterations == 0 || later.iterations == 0) return std::nullopt;
  const double share = extra_wait_ns(first, later) / situation.whole.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("cold_cache", share, situation);
  cause.stage = "read";
  cause.gain = bound_without(share);
  if (const ProfiledLine* line = situation.stage_line("read")) cause.where = line->where;
  cause.fix.where = std::nullopt;
  const double first_ms = first.wait_per_iteration_ns() / 1e6, later_ms = later.wait_per_iteration_ns() / 1e6;
  cause.summary = fmt::format(
      "The first pass reads the data from the device and waits {} per step, later passes find them in memory and wait "
      "{}: "
      "{} of all time of this run, and less of a longer one.",
      milliseconds(first_ms), milliseconds(later_ms), percent(share));
  add_evidence(cause, "from the device per batch, first pass", first.bytes_per_batch() / 1e6, "MB", "/proc/PID/io");
  add_evidence(cause, "the same, later passes", later.bytes_per_batch() / 1e6, "MB", "/proc/PID/io");
  add_evidence(cause, "waiting per step, first pass", first_ms, "ms", "hook");
  add_evidence(cause, "waiting per step, later passes", later_ms, "ms", "hook");
  if (const auto set = set_bytes(situation)) add_evidence(cause, "bytes of one pass", *set / 1e6, "MB", "/proc/PID/io");
  add_evidence(cause, "memory that it may fill",
               situation.resources.cache_room ? std::optional(*situation.resources.cache_room / 1e6) : std::nullopt,
               "MB", "/proc/meminfo, cgroup memory limit");
  cause.fix.text =
      "nothing, if the run has many passes; otherwise read the files once ahead of training (cat FILES > "
      "/dev/null, or vmtouch -t), while something else is being set up";
  cause.fix.risk = "none for results";
  cause.why_not.push_back("settings chosen for the first pass: they are not needed from the second on");
  return cause;
}

}  // namespace fullbore::diagnose
