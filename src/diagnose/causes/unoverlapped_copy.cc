// Copies out of page-locked memory that the loop does not wait for, but on the stream of the kernels: one runs after
// the other, although the device can do both at once.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {

std::optional<Cause> unoverlapped_copy(const Situation& situation) {
  if (!situation.device || copies_block(*situation.device)) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double share = hideable(situation, exposed_pinned(situation));
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause("unoverlapped_copy", share, device.pinned, situation);
  cause.summary = fmt::format(
      "The GPU runs no kernel for {} of each step while the next batch is copied to it{}; copied on a stream of its "
      "own, it would be at most {} faster.",
      percent(share), in_place(cause.where), factor(*cause.gain.max));
  cause.fix.text =
      "copy a batch ahead on a stream of its own: fullbore.PrefetchDataLoader(loader, device=\"cuda\"); or copy less: "
      "bytes instead of floats (uint8, converted on the device)";
  cause.fix.risk = "one batch more lies on the device; the numbers are the same";
  cause.why_not.push_back("pin_memory or non_blocking: both are there, the copy is as fast as the link");
  return cause;
}

}  // namespace fullbore::diagnose
