// A batch is finished, and getting it into the training process takes the time: pickling, a descriptor for each tensor,
// building them again in the training thread.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

// Of the wait: less than this is what any batch pays on top of a wait for something else.
constexpr double kShareOfWait = 0.3;
// A batch of fewer bytes than this in tensors is not slow because of them: 4 GB/s move 1 MB in 0.25 ms.
constexpr double kFewMegabytes = 1;

// CPU milliseconds of the training thread within next, per steady step: what it does to take a batch.
std::optional<double> taking_ms(const Situation& situation) {
  std::vector<double> values;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr || iteration.next->cpu_ns == wire::kUnknown) continue;
    values.push_back(static_cast<double>(iteration.next->cpu_ns) / 1e6);
  }
  return mean(values);
}

}  // namespace

std::optional<Cause> handoff(const Situation& situation) {
  const double share = handing_over(situation);
  if (share < kNoteShare || share < kShareOfWait * situation.wait_share()) return std::nullopt;
  // A worker's thread that sends batches stands in line for a core as the worker does.
  if (pin_thread_busy(situation) || crowded(situation) || oversubscribed(situation)) return std::nullopt;

  Cause cause = make_cause("handoff", share, situation);
  cause.stage = "handoff";
  cause.gain = bound_without(share);
  cause.change.handoff = 0;
  cause.change.words = "with a hand-over that costs nothing";
  const LoaderFacts& loader = situation.loader;
  const double each_ms = share * situation.step_ms();
  cause.summary = fmt::format(
      "The training loop waits {} of each step for batches that are finished but still on their way from the worker "
      "({} each{}); handed over at no cost they would make it {}.",
      percent(share), milliseconds(each_ms), loader.where ? ", " + place(loader.where) : "", kFasterHere);
  add_evidence(cause, "hand-over, per step", each_ms, "ms", "hook");
  add_evidence(cause, "of it CPU time of the training thread", taking_ms(situation), "ms", "hook");
  add_evidence(cause, "tensors of a batch", loader.batch_mb, "MB", "hook");
  add_evidence(cause, "waiting for input, per step", situation.wait_ms(), "ms", "hook");
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  const bool few_bytes = loader.batch_mb && *loader.batch_mb < kFewMegabytes;
  cause.fix.text = fmt::format(
      "hand over a few large tensors instead of many {}: let {} join what belongs together into one (torch.cat with "
      "offsets, padding, nested lists as one array), and leave out what training does not read",
      few_bytes ? "small objects" : "tensors", loader.collate.empty() ? "the collate function" : loader.collate);
  cause.fix.risk = "the batch has another shape: what reads it must split it again";
  cause.why_not.push_back(
      fmt::format("more workers than {}: every batch still passes through the one training thread", *loader.workers));
  return cause;
}

}  // namespace fullbore::diagnose
