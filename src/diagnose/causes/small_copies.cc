// A batch goes to the device in many small pieces: each takes as long as its call, however few bytes it has, and the
// link is idle in between.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> small_copies(const Situation& situation) {
  const double share = exposed_in_rows(situation);
  if (share < kNoteShare) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double count = static_cast<double>(device.small.count);

  Cause cause = make_cause("small_copies", share, situation);
  cause.gain = bound_without(share);
  set_copy_line(cause, situation);
  cause.summary = fmt::format(
      "The GPU runs no kernel for {} of each step while the batch is copied to it in {:.0f} pieces of {:.1f} kB{}; in "
      "one piece it would be at most {} faster.",
      percent(share), device.per_iteration(count), device.small.bytes / count / 1e3, in_place(cause.where),
      factor(*cause.gain.max));
  add_evidence(cause, "no kernel running from the first piece to the last, per step", share * situation.step_ms(), "ms",
               kDeviceRecords);
  add_evidence(cause, "small copies to the device, per step", device.per_iteration(count), "", kDeviceRecords);
  add_evidence(cause, "bytes of one", device.small.bytes / count, "B", kDeviceRecords);
  add_evidence(cause, "kernels running", device.busy(), "share", kDeviceRecords);
  cause.fix.text =
      "copy once: collate into few tensors (torch.stack, torch.cat) and slice them on the device; or let "
      "fullbore.PrefetchDataLoader(loader, device=\"cuda\") pack the tensors of a batch into one copy, a batch ahead";
  cause.fix.risk = "none: the same values on the device";
  cause.why_not.push_back("pin_memory alone: so few bytes take no time on the link, the calls do");
  return cause;
}

}  // namespace fullbore::diagnose
