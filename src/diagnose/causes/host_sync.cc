// The loop reads a value back from the device in every step and stands still until it is there: nothing is prepared
// meanwhile. What the device itself does then is for the GPU account to say; this is the host's side of it.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/body_use.h"
#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Read every so many steps: the usual interval of progress bars and loggers.
constexpr int kSteps = 50;

// How much of the step the loop stands still in reads. Without a GPU a read that keeps the thread busy is work: only as
// much as it was idle can have been waiting. (CUDA spins while it waits, so a GPU's reads look busy.)
double blocked_share(const Situation& situation) {
  const double share = situation.steady.share(Claim::kBlockingRead);
  if (situation.gpu) return share;
  const auto use = body_use(situation);
  return use ? std::min(share, use->blocked() * (1 - situation.wait_share())) : 0;
}

std::string what_to_do() {
  return fmt::format(
      "keep the value on the device (loss.detach(), sums as tensors) and read it every {0} steps: if step % {0} == 0",
      kSteps);
}

// Where the device was traced: in which the loop had waited for it and it then had nothing to do.
std::optional<Cause> device_runs_dry(const Situation& situation, const Callee* read) {
  const double share = situation.device_part(&DeviceBody::host_sync);
  if (share < kNoteShare) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  Cause cause = make_cause("host_sync", share, situation);
  cause.gain = bound_without(share);
  cause.where = cause.fix.where = read != nullptr ? std::optional(read->where) : std::nullopt;
  const std::string call = read != nullptr ? fmt::format("in {} ({})", read->name, place(read->where)) : "for a value";
  cause.summary = fmt::format(
      "The GPU runs dry for {} of each step: the loop waits for it {} before it launches more; launched ahead, it "
      "would be at most {} faster.",
      percent(share), call, factor(*cause.gain.max));
  add_evidence(cause, "no kernel running after a wait for the device, per step", share * situation.step_ms(), "ms",
               kDeviceRecords);
  add_evidence(cause, "the loop waiting for the device, per step", device.per_iteration(device.device_wait_ns) / 1e6,
               "ms", kDeviceRecords);
  add_evidence(cause, "kernels running, per step", device.per_iteration(device.busy_ns()) / 1e6, "ms", kDeviceRecords);
  add_evidence(cause, "the thread's own work, per step", device.per_iteration(device.busy_body_ns) / 1e6, "ms",
               kDeviceRecords);
  if (read != nullptr)
    add_evidence(cause, fmt::format("calls of {} per step", read->name), read->per_window, "", "hook, line timing");
  cause.fix.text = what_to_do();
  cause.fix.risk = "none for the weights; what is printed or compared comes later";
  cause.why_not.push_back("workers, prefetching or pinning: the batch is there, the loop waits for a result");
  return cause;
}

}  // namespace

std::optional<Cause> host_sync(const Situation& situation) {
  const Callee* read = situation.profile.loop.callee_of(wire::Stage::kBlocking);
  if (situation.device) return device_runs_dry(situation, read);
  if (read == nullptr) return std::nullopt;
  const double blocked = blocked_share(situation);
  // Without the read the host's work and the device's overlap: the step shrinks to the longer of the two at best.
  const double share = std::min(blocked, 1 - blocked);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("host_sync", share, situation);
  cause.where = cause.fix.where = read->where;
  cause.gain.max = 1 / (1 - share);
  cause.change.body_less_ms = share * situation.step_ms();
  cause.change.words = "with the next step prepared meanwhile";
  cause.summary = fmt::format(
      "The loop stands still for {} of each step in {} ({}), until the device has caught up; if the next step were "
      "prepared meanwhile, it would be {}.",
      percent(blocked), read->name, place(read->where), kFasterHere);
  add_evidence(cause, "standing still in reads, per step", blocked * situation.step_ms(), "ms", "hook, line timing");
  add_evidence(cause, fmt::format("calls of {} per step", read->name), read->per_window, "", "hook, line timing");
  add_evidence(cause, "the rest of the step", (1 - blocked) * situation.step_ms(), "ms", "hook");
  cause.fix.text = what_to_do();
  cause.fix.risk = "none for the weights; what is printed or compared comes later";
  cause.why_not.push_back("workers, prefetching or pinning: the batch is there, the loop waits for a result");
  return cause;
}

}  // namespace fullbore::diagnose
