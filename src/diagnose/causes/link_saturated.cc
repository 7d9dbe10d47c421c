// The link is full: copies take longer than the kernels of a step, so that not all of them fit beside these.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {

std::optional<Cause> link_saturated(const Situation& situation) {
  if (!situation.device) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double exposed = exposed_pinned(situation);
  // What no prefetching hides: the copies of a step take longer than its kernels.
  const double share = exposed - hideable(situation, exposed);
  if (share < kNoteShare || device.pinned.bytes < device.pageable.bytes) return std::nullopt;
  // These say what to do about it.
  if (wide_dtype(situation) || link_degraded(situation) || numa_remote(situation)) return std::nullopt;

  Cause cause = make_copy_cause("link_saturated", share, device.pinned, situation);
  const double copying_ms = device.per_iteration(device.copy_ns()) / 1e6;
  cause.summary = fmt::format(
      "Copying a batch to the GPU takes {}, its kernels {}{}: even with all of it beside them the link is the limit; "
      "with fewer bytes it would be at most {} faster.",
      milliseconds(copying_ms), milliseconds(device.per_iteration(device.busy_ns()) / 1e6), in_place(cause.where),
      factor(*cause.gain.max));
  cause.fix.text =
      "send fewer bytes: narrower types (uint8 pictures, float16), pictures at the size that the model reads, data "
      "that stays on the device between epochs, augmentation on the device";
  cause.fix.risk = "none where the same values arrive";
  cause.why_not.push_back("pinning: the copies come out of page-locked memory already");
  return cause;
}

}  // namespace fullbore::diagnose
