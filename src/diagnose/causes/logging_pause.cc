// The training thread writes or sends its metrics itself, and stands still until somebody has taken them.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Logs {
  int count = 0;
  double longest_ms = 0;
  std::optional<Location> where;  // of the longest
};

// Records of Python's logging that took 1 ms or more, wherever they fall.
Logs find_logs(const Situation& situation) {
  Logs logs;
  for (const auto* interval : intervals_of(situation, wire::IntervalKind::kLogging)) {
    ++logs.count;
    const double took_ms = static_cast<double>(interval->end_ns - interval->begin_ns) / 1e6;
    if (took_ms <= logs.longest_ms) continue;
    logs.longest_ms = took_ms;
    if (const auto where = place_of(situation, *interval)) logs.where = where;
  }
  return logs;
}

bool is_logging(std::string_view callee) {
  static constexpr std::string_view kLoggers[] = {"print",   "logging.", "wandb.",    "mlflow.",   "torch.tensorboard",
                                                  "loguru.", "neptune.", "comet_ml.", "requests.", "tensorboard",
                                                  "httpx.",  "urllib."};
  return std::ranges::any_of(kLoggers, [&](std::string_view name) { return callee.starts_with(name); });
}

// What else writes or sends in the loop, known from the iterations whose lines were timed.
struct Written {
  double share = 0;  // of the step
  const Callee* most = nullptr;
};

Written find_writes(const Situation& situation) {
  Written written;
  const double waiting = situation.profile.loop.share(wire::Stage::kWait);
  if (waiting >= 1) return written;
  for (const Callee& callee : situation.profile.loop.callees) {
    if (callee.stage != wire::Stage::kPause || !is_logging(callee.name)) continue;
    written.share += callee.share / (1 - waiting) * (1 - situation.wait_share());
    if (written.most == nullptr) written.most = &callee;
  }
  return written;
}

}  // namespace

std::optional<Cause> logging_pause(const Situation& situation) {
  const double logged = situation.whole.share(Claim::kLogging);
  const Logs logs = find_logs(situation);
  const Written written = find_writes(situation);
  const bool by_line = written.share > logged;
  const double share = by_line ? written.share : logged;
  if (share < kNoteShare || (!by_line && logs.count < 2)) return std::nullopt;

  Cause cause = make_cause("logging_pause", share, situation);
  cause.where = cause.fix.where = by_line ? std::optional(written.most->where) : logs.where;
  cause.gain = bound_without(share);
  cause.change = without(Claim::kLogging, situation, "without logging");
  if (by_line) cause.change.body_less_ms = share * situation.step_ms(), cause.change.pause_less_ms = 0;
  const double each_ms =
      by_line ? share * situation.step_ms() : situation.whole.claim_ns(Claim::kLogging) / 1e6 / std::max(1, logs.count);
  const std::string what = by_line ? written.most->name : "logging";
  cause.summary = fmt::format(
      "Training stands still for {} {} while {} writes or sends{}: {} of all time; in another thread, or less often, "
      "it "
      "would be {}.",
      milliseconds(each_ms), by_line ? "in each step" : fmt::format("at each of {} log records", logs.count), what,
      in_place(cause.where), percent(share), kFasterHere);
  if (!by_line) {
    add_evidence(cause, "log records of 1 ms or more", logs.count, "", "hook");
    add_evidence(cause, "each", each_ms, "ms", "hook");
    add_evidence(cause, "longest", logs.longest_ms, "ms", "hook");
  } else {
    add_evidence(cause, fmt::format("{}, per step", what), each_ms, "ms", "hook, line timing");
    add_evidence(cause, "calls per step", written.most->per_window, "", "hook, line timing");
  }
  add_evidence(cause, "of all time", share, "share", "hook");
  cause.fix.text =
      "write less often, or from another thread: logging.handlers.QueueHandler in the logger and a QueueListener with "
      "the slow handler";
  cause.fix.risk = "the last records before a crash may be lost";
  cause.why_not.push_back("workers and prefetching: the loader is not what training waits for here");
  return cause;
}

}  // namespace fullbore::diagnose
