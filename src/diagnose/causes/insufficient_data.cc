// Too little was seen to judge by. Says what is missing and what to do, and never guesses.
#include <fmt/format.h>

#include <csignal>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kLeastIterations = 20;
constexpr std::size_t kFewestIterations = 3;
constexpr std::int64_t kLeastNs = 30'000'000'000;

Cause with(const Situation& situation, std::string summary, std::string text) {
  Cause cause = make_cause("insufficient_data", 0, situation);
  cause.summary = std::move(summary);
  cause.fix.text = std::move(text);
  cause.fix.where = std::nullopt;
  return cause;
}

// Steps in short epochs, each of which is some iteration's edge, still make a run to judge.
bool enough(const Iterations& iterations) {
  const std::int64_t whole_ns = iterations.whole_end_ns - iterations.whole_begin_ns;
  if (iterations.steady >= kLeastIterations) return true;
  return iterations.steady >= kFewestIterations && (iterations.steady_ns >= kLeastNs || whole_ns >= kLeastNs);
}

std::string steps(std::size_t count) {
  return fmt::format("{} step{}", count, count == 1 ? "" : "s");
}

// Ctrl-C is no failure: the person has seen enough.
bool failed(const record::RunInfo& info) {
  return info.exit_code.value_or(0) != 0 || (info.signal && *info.signal != SIGINT);
}

Cause too_short(const Situation& situation, std::string summary, std::string text) {
  Cause cause = with(situation, std::move(summary), std::move(text));
  add_evidence(cause, "steps seen", static_cast<double>(situation.iterations.all.size()), "", "hook");
  add_evidence(cause, "of them warm-up", static_cast<double>(situation.iterations.warmup), "", "hook");
  return cause;
}

// What to change about the loop is no advice to somebody whose program does not run.
Cause failed_too_early(const Situation& situation) {
  const bool looped = situation.trainer->loop != LoopKind::kNone;
  return too_short(situation,
                   looped ? fmt::format("The command failed after {}, before there was enough to judge.",
                                        steps(situation.iterations.all.size()))
                          : "The command failed before a training loop was seen.",
                   "mend what it says itself, above this report, and run it again");
}

}  // namespace

std::optional<Cause> insufficient_data(const Situation& situation) {
  const bool no_loop = situation.trainer->loop == LoopKind::kNone;
  if ((no_loop || !enough(situation.iterations)) && failed(situation.run->info)) return failed_too_early(situation);
  if (no_loop) {
    return with(situation,
                "No training loop was seen: neither a torch DataLoader nor an optimiser step nor fullbore.step().",
                "mark the steps: for batch in fullbore.observe(batches): ..., or call fullbore.step() once per step");
  }
  if (!enough(situation.iterations)) {
    return too_short(situation,
                     fmt::format("Not enough to judge: {} {} seen after warm-up, 20 are needed (or 30 s).",
                                 steps(situation.iterations.steady), situation.iterations.steady == 1 ? "was" : "were"),
                     "let it run longer: 20 steps after warm-up (at most 20 more) are enough");
  }
  if (!situation.wait_known) {
    return with(
        situation,
        fmt::format("A step takes {}, but how much of it is waiting for input was not seen: the loop that trains reads "
                    "no torch DataLoader.",
                    milliseconds(situation.step_ms())),
        "wrap what the loop iterates over: for batch in fullbore.observe(batches): ...");
  }
  return std::nullopt;
}

}  // namespace fullbore::diagnose
