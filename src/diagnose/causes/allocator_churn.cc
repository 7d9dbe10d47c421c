// The loop gives the allocator's memory back to the driver in every step and asks for it again: each is a call that
// waits for the device.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Less often than every second step it is tidying up.
constexpr double kLeastCalls = 0.5;

}  // namespace

std::optional<Cause> allocator_churn(const Situation& situation) {
  const auto& callees = situation.profile.loop.callees;
  const auto call = std::ranges::find_if(callees, [](const Callee& c) { return c.name.ends_with("empty_cache"); });
  if (!situation.device || call == callees.end() || call->per_window < kLeastCalls) return std::nullopt;
  // The call itself; what asking for the memory again takes is in the lines that do.
  const double idle = situation.device_part(&DeviceBody::host_sync) + situation.device_part(&DeviceBody::launch);
  const double share = std::min(call->share, idle);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("allocator_churn", share, situation);
  cause.where = cause.fix.where = call->where;
  cause.gain = bound_without(idle);
  cause.summary = fmt::format(
      "{} takes {} of each step ({}): memory goes back to the driver and is asked for again, and the GPU waits "
      "meanwhile; without the call it would be at most {} faster.",
      call->name, percent(call->share), place(call->where), factor(*cause.gain.max));
  add_evidence(cause, fmt::format("calls of {} per step", call->name), call->per_window, "", "hook, line timing");
  add_evidence(cause, "its share of the loop", call->share, "share", "hook, line timing");
  add_evidence(cause, "no kernel running while the thread works, per step", idle * situation.step_ms(), "ms",
               kDeviceRecords);
  cause.fix.text =
      "take the call out of the loop: torch keeps freed memory for the next step; against fragments "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  cause.fix.risk = "nvidia-smi shows more memory in use; the numbers are the same";
  return cause;
}

}  // namespace fullbore::diagnose
