// pin_memory=True: one thread of the training process copies every batch into page-locked memory, and it cannot keep
// up.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> pin_thread(const Situation& situation) {
  const double share = handing_over(situation);
  if (share < kNoteShare || !pin_thread_busy(situation)) return std::nullopt;

  Cause cause = make_cause("pin_thread", share, situation);
  cause.stage = "handoff";
  cause.gain = bound_without(share);
  cause.change.pin = 0;
  cause.change.words = "with pinning that costs nothing";
  const LoaderFacts& loader = situation.loader;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for the one thread that pins batches{}, which is busy {} of its time; a "
      "faster way into pinned memory would make it {}.",
      percent(share), in_place(loader.where), percent(*situation.resources.pin_busy), kFasterHere);
  add_evidence(cause, "thread that pins: busy", situation.resources.pin_busy, "share", "/proc/PID/task/TID/schedstat");
  add_evidence(cause, "waiting for finished batches, per step", share * situation.step_ms(), "ms", "hook");
  add_evidence(cause, "tensors of a batch", loader.batch_mb, "MB", "hook");
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  cause.fix.text =
      "give it less to do: one large tensor instead of many (each is pinned by a call of its own), bytes instead of "
      "floats (uint8, converted on the device); and do not compute in other threads of this process";
  cause.fix.risk = "the batch has another shape or type: what reads it must convert it";
  cause.why_not.push_back("more workers: their batches are finished and wait to be pinned");
  return cause;
}

}  // namespace fullbore::diagnose
