// See verdict.h.
#include "diagnose/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/predict_gains.h"

namespace fullbore::diagnose {
namespace {

constexpr double kUnmatchedShare = 0.2;
constexpr double kLittleWait = 0.10;  // of a step
constexpr std::int64_t kEnoughSteps = 20;

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

double unmatched_share(const WaitWalk& walk) {
  const double all = static_cast<double>(walk.matched + walk.unmatched);
  return all > 0 ? static_cast<double>(walk.unmatched) / all : 0;
}

// Judged by what was seen to happen, whatever the steady step says.
bool is_pause(const Cause& cause) {
  static constexpr const char* kEvents[] = {"checkpoint_pause",     "validation_pause", "logging_pause", "gc_pause",
                                            "worker_startup",       "worker_crash",     "shm_limit",     "fd_limit",
                                            "worker_memory_growth", "duplicate_work",   "warmup"};
  return std::ranges::find(kEvents, cause.cause) != std::end(kEvents);
}

// What speaks against a verdict about that cause, as clauses.
std::vector<std::string> doubts_about(const Situation& situation, const Cause& cause) {
  if (is_pause(cause)) return {};
  std::vector<std::string> doubts;
  const bool compute = cause.cause == "compute_bound";
  if (situation.gpu && !situation.device) doubts.push_back("the GPU may have had work queued while the loop waited");
  if (situation.halves.changed_ns) doubts.push_back("the run changed on the way");
  if (!holds_throughout(situation))
    doubts.push_back(fmt::format("one half of the run waits for input {} of a step, the other {}",
                                 percent(*situation.halves.first), percent(*situation.halves.second)));
  const double unmatched = unmatched_share(situation.walk);
  if (!compute && unmatched > kUnmatchedShare)
    doubts.push_back(fmt::format("for {} of the batches it is not known how they were made", percent(unmatched)));
  if (!compute && !situation.resources.free_cores) doubts.push_back("how many cores are free was not measured");
  if (situation.resources.crowded_by_others())
    doubts.push_back(fmt::format("other programs took {:.1f} of the {} that this job may use",
                                 *situation.resources.neighbour_cores, cores(*situation.resources.usable_cores)));
  const replay::Calibration& replay = situation.replay;
  if (cause.change != Change{} && replay.loop && !replay.explains())
    doubts.push_back(
        fmt::format("a replay of the loader misses the measured step by {}", percent(std::abs(replay.error))));
  return doubts;
}

std::string joined(const std::vector<std::string>& clauses) {
  std::string text;
  for (const std::string& clause : clauses) text += (text.empty() ? "" : "; ") + clause;
  return text;
}

// Without enough to judge by, the sentence of the verdict itself says what is missing.
void set_confidence(const Situation& situation, const Cause& cause, Verdict& verdict) {
  std::vector<std::string> doubts = doubts_about(situation, cause);
  if (cause.cause == "insufficient_data") {
    verdict.confidence = Confidence::kLow;
    doubts = {fmt::format("only {} steady step{}", situation.steps.count, situation.steps.count == 1 ? "" : "s")};
    if (situation.steps.count >= kEnoughSteps && !situation.wait_known)
      doubts = {"the wait of this loop cannot be seen"};
    if (situation.steps.count >= kEnoughSteps && situation.wait_known) doubts = {"no known cause explains the wait"};
  } else if (!doubts.empty()) {
    verdict.confidence = doubts.size() == 1 ? Confidence::kMedium : Confidence::kLow;
  }
  verdict.confidence_why = joined(doubts);
}

// Where the loop waits little and the replay finds no change that is worth making, there is none to name.
bool nothing_to_gain(const Situation& situation, const std::vector<Cause>& causes) {
  return situation.wait_share() < kLittleWait &&
         std::ranges::none_of(causes, [](const Cause& cause) { return is_advice(cause.gain); });
}

Judgement conclude(const Situation& situation, std::vector<Cause> causes) {
  Judgement judgement;
  judgement.causes = std::move(causes);
  const Cause& first = judgement.causes.front();
  judgement.verdict.cause = first.cause;
  judgement.verdict.stage = first.stage;
  judgement.verdict.severity = first.severity;
  judgement.verdict.summary = first.summary;
  set_confidence(situation, first, judgement.verdict);
  judgement.changed_at = changed_at(situation);
  return judgement;
}

}  // namespace

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
  ReplayFacts replay = predict_gains(situation, causes);
  if (causes.empty()) {
    auto bound = compute_bound(situation);
    causes.push_back(bound ? *std::move(bound) : unexplained_wait(situation));
  } else if (nothing_to_gain(situation, causes)) {
    causes = {loader_is_enough(situation)};
    replay.next = std::nullopt;
  }
  for (Cause& cause : causes) cause.summary = with_gain(cause.summary, cause.gain);
  Judgement judgement = conclude(situation, std::move(causes));
  judgement.replay = std::move(replay);
  return judgement;
}

}  // namespace fullbore::diagnose
