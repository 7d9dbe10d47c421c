// The batch lies in page-locked memory, and yet the loop stands still until it has arrived: nothing is launched
// meanwhile, and when it is, the device has long been idle.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {

std::optional<Cause> blocking_copy(const Situation& situation) {
  if (!situation.device || !copies_block(*situation.device)) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double share = hideable(situation, exposed_pinned(situation));
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause("blocking_copy", share, device.pinned, situation);
  cause.summary = fmt::format(
      "The GPU is idle {} of each step while a batch is copied to it, and the loop stands still until it is there{}; "
      "copied a batch ahead, it would be at most {} faster.",
      percent(share), in_place(cause.where), factor(*cause.gain.max));
  add_evidence(cause, "bytes whose copy the loop waited for", device.waited_for, "share", kDeviceRecords);
  cause.fix.text =
      "copy a batch ahead on a stream of its own, with non_blocking=True: fullbore.PrefetchDataLoader(loader, "
      "device=\"cuda\") does both";
  cause.fix.risk = "one batch more lies on the device; the numbers are the same";
  cause.why_not.push_back(
      "non_blocking=True alone: the loop goes on, but the kernels still wait for the copy on the same stream");
  return cause;
}

}  // namespace fullbore::diagnose
