// See verdict.h.
#include "diagnose/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

constexpr double kTie = 0.03;
constexpr double kUnmatchedShare = 0.2;
constexpr double kCrowdedShare = 0.25;

std::string changed_at(const Situation& situation) {
  if (!situation.halves.changed_ns) return "";
  const double after_s = static_cast<double>(*situation.halves.changed_ns - situation.run->info.start_ns) / 1e9;
  return fmt::format("{:.0f} s after the start (input wait {} of a step in the first half, {} in the second)", after_s,
                     percent(*situation.halves.first), percent(*situation.halves.second));
}

// Holds a verdict about input in both halves of the run?
bool holds_throughout(const Situation& situation) {
  if (!situation.halves.first || !situation.halves.second) return true;
  return (*situation.halves.first >= kNoteShare) == (*situation.halves.second >= kNoteShare);
}

bool many_unmatched(const WaitWalk& walk) {
  const double all = static_cast<double>(walk.matched + walk.unmatched);
  return all > 0 && static_cast<double>(walk.unmatched) > kUnmatchedShare * all;
}

// Others that take a quarter of the cores make a run look slower than it is, and its loader more so.
bool crowded_by_others(const Resources& resources) {
  return resources.usable_cores && resources.neighbour_cores.value_or(0) >= kCrowdedShare * *resources.usable_cores;
}

// Judged by what was seen to happen, whatever the steady step says.
bool is_pause(const Cause& cause) {
  static constexpr const char* kEvents[] = {"checkpoint_pause", "validation_pause", "logging_pause", "gc_pause",
                                            "worker_startup",   "worker_crash",     "shm_limit",     "fd_limit"};
  return std::ranges::find(kEvents, cause.cause) != std::end(kEvents);
}

Confidence confidence_of(const Situation& situation, const Cause& cause) {
  if (cause.cause == "insufficient_data") return Confidence::kLow;
  if (is_pause(cause)) return Confidence::kHigh;
  int doubts = 0;
  doubts += situation.gpu ? 1 : 0;  // input wait may partly be hidden behind queued work
  doubts += situation.halves.changed_ns ? 1 : 0;
  doubts += holds_throughout(situation) ? 0 : 1;
  const bool compute = cause.cause == "compute_bound";
  doubts += !compute && many_unmatched(situation.walk) ? 1 : 0;
  doubts += !compute && !situation.resources.free_cores ? 1 : 0;
  doubts += crowded_by_others(situation.resources) ? 1 : 0;
  if (doubts == 0) return Confidence::kHigh;
  return doubts == 1 ? Confidence::kMedium : Confidence::kLow;
}

Judgement conclude(const Situation& situation, std::vector<Cause> causes) {
  Judgement judgement;
  judgement.causes = std::move(causes);
  const Cause& first = judgement.causes.front();
  judgement.verdict = {first.cause, first.stage, first.severity, confidence_of(situation, first), first.summary};
  judgement.changed_at = changed_at(situation);
  return judgement;
}

}  // namespace

void rank_causes(std::vector<Cause>& causes) {
  for (auto place = causes.begin(); place != causes.end(); ++place) {
    const auto most =
        std::max_element(place, causes.end(), [](const Cause& a, const Cause& b) { return a.share < b.share; });
    const double share = most->share;
    const auto chosen =
        std::find_if(place, causes.end(), [&](const Cause& cause) { return cause.share >= share - kTie; });
    std::rotate(place, chosen, std::next(chosen));
  }
}

Judgement judge(const Situation& situation) {
  std::vector<Cause> causes;
  for (const CauseFunction function : kEndings) {
    if (auto cause = function(situation)) causes.push_back(*std::move(cause));
  }
  if (auto cause = insufficient_data(situation)) {
    causes.push_back(*std::move(cause));
    return conclude(situation, std::move(causes));
  }
  for (const CauseFunction function : kAllCauses) {
    if (auto cause = function(situation)) causes.push_back(*std::move(cause));
  }
  rank_causes(causes);
  if (causes.empty()) {
    auto bound = compute_bound(situation);
    causes.push_back(bound ? *std::move(bound) : unexplained_wait(situation));
  }
  return conclude(situation, std::move(causes));
}

}  // namespace fullbore::diagnose
