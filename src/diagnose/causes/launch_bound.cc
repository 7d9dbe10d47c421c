// The GPU finishes its kernels faster than the training thread launches them: many small ones, and Python between.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/launching.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> launch_bound(const Situation& situation) {
  if (!situation.device || allocator_churn(situation)) return std::nullopt;
  const double late = situation.device_part(&DeviceBody::launch);
  const auto launching = measure_launching(situation);
  const double share = launching ? launching->late_because_launching() : late;
  // Every eager loop is a little late after a wait: below a warning there is nothing to change about it.
  if (share < kWarningShare) return std::nullopt;
  // A thread that is held up so much is slow at what it does, too: first things first.
  if (const auto starved = launcher_starved(situation); starved && starved->share > share) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double kernels = static_cast<double>(device.kernels);

  Cause cause = make_cause("launch_bound", share, situation);
  cause.where = cause.fix.where = std::nullopt;
  if (const ProfiledLine* line = situation.profile.loop.line_of(wire::Stage::kModel)) {
    cause.where = cause.fix.where = line->where;
  }
  cause.gain = bound_without(share);
  cause.summary = fmt::format(
      "The GPU runs no kernel for {} of each step because it finishes {:.0f} kernels of {:.1f} us faster than the loop "
      "launches them{}; launched together, they would make it at most {} faster.",
      percent(share), device.per_iteration(kernels), kernels > 0 ? device.busy_ns() / kernels / 1e3 : 0,
      in_place(cause.where), factor(*cause.gain.max));
  add_evidence(cause, "no kernel running while the thread works, per step", late * situation.step_ms(), "ms",
               kDeviceRecords);
  add_evidence(cause, "kernels, per step", device.per_iteration(kernels), "", kDeviceRecords);
  add_evidence(cause, "kernels running, per step", device.per_iteration(device.busy_ns()) / 1e6, "ms", kDeviceRecords);
  if (launching) {
    add_evidence(cause, "the thread's own work, per step", launching->own_ms, "ms", "CUPTI, hook");
    add_evidence(cause, "of it not running", launching->held_up, "share", "/proc/PID/task/TID/schedstat");
  }
  cause.fix.text =
      "launch less often: torch.compile(model, mode=\"reduce-overhead\") or CUDA graphs, fused=True in the optimiser, "
      "a larger batch; or move Python work out of the loop";
  cause.fix.risk = "a larger batch changes training; compiled kernels round differently";
  cause.why_not.push_back("workers, prefetching or pinning: batches are there, the GPU waits for launches");
  return cause;
}

}  // namespace fullbore::diagnose
