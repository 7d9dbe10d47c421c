// The verdict for a loop that does not wait: leave the loader alone. And the one for a wait that no cause explains.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// The largest thing that is not the model, worth a word from 5 % on.
std::string largest_pause(const Situation& situation) {
  static constexpr std::pair<Claim, const char*> kPauses[] = {{Claim::kCollective, "waiting for other ranks"},
                                                              {Claim::kCheckpoint, "checkpoints"},
                                                              {Claim::kValidation, "validation"}};
  const auto most =
      std::ranges::max_element(kPauses, {}, [&](const auto& p) { return situation.whole.share(p.first); });
  const double share = situation.whole.share(most->first);
  return share < kNoteShare ? "" : fmt::format("; {} takes {} of all time", most->second, percent(share));
}

// What the device did, where it was seen.
std::string device_words(const Situation& situation) {
  if (!situation.device) return "";
  std::string hidden;
  if (situation.loop_wait_share() - situation.wait_share() >= kNoteShare)
    hidden = fmt::format("; while the loop waits {} of each step for batches, it has work left",
                         percent(situation.loop_wait_share() - situation.wait_share()));
  const double late = situation.device_part(&DeviceBody::launch);
  const std::string idle =
      late >= kWarningShare
          ? fmt::format(", and none for {} of each step while the loop is at something else", percent(late))
          : "";
  return fmt::format(" The GPU runs kernels {} of the time{}{}.", percent(situation.device->busy()), idle, hidden);
}

}  // namespace

std::optional<Cause> compute_bound(const Situation& situation) {
  if (!situation.wait_known || waits(situation)) return std::nullopt;
  return loader_is_enough(situation);
}

Cause loader_is_enough(const Situation& situation) {
  Cause cause = make_cause("compute_bound", situation.wait_share(), situation);
  cause.severity = Severity::kNone;
  cause.gain = bound_without(situation.wait_share());
  cause.summary = fmt::format(
      "Leave the loader alone: the training loop waits {:.1f} % of each step for its input, so a perfect loader would "
      "gain at most {:.2f}x{}.{}",
      situation.wait_share() * 100, *cause.gain.max, largest_pause(situation), device_words(situation));
  if (situation.device) add_evidence(cause, "kernels running", situation.device->busy(), "share", "CUPTI");
  add_evidence(cause, "waiting for input, per step", situation.wait_ms(), "ms", "hook");
  add_evidence(cause, "step", situation.step_ms(), "ms", "hook");
  add_evidence(cause, "steps judged", static_cast<double>(situation.steps.count), "", "hook");
  if (situation.loader.workers.value_or(0) > 0)
    add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  cause.fix.where = std::nullopt;
  cause.fix.next_command.clear();
  if (situation.loader.workers)
    cause.why_not.push_back(
        fmt::format("more workers than {}: the loop hardly ever waits for a batch", *situation.loader.workers));
  return cause;
}

Cause unexplained_wait(const Situation& situation) {
  Cause cause = make_cause("insufficient_data", situation.wait_share(), situation);
  cause.gain = bound_without(situation.wait_share());
  const bool seen = !situation.wait_parts.empty() && situation.wait_parts.front().what != "unknown";
  if (seen) cause.stage = situation.wait_parts.front().what;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for its input{}{}; what to change about it cannot be told from this "
      "run.",
      percent(situation.wait_share()), seen ? ", most of it for " + stage_words(cause.stage) : "",
      in_place(situation.loader.where));
  add_wait_evidence(cause, situation);
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  cause.fix.text =
      situation.trainer->loop == LoopKind::kLoader
          ? "look at the lines and parts below; a longer run with more cores measured may tell more"
          : "how this input is made was not seen: pass a torch DataLoader, or make it ahead in another thread";
  return cause;
}

}  // namespace fullbore::diagnose
