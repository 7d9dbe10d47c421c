#include "diagnose/causes/copies.h"

#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

bool copies_block(const GpuEvidence& device) {
  return device.waited_for > 0.5;
}

Cause make_copy_cause(const std::string& id, double share, const CopiesFrom& copies, const Situation& situation) {
  const GpuEvidence& device = *situation.device;
  Cause cause = make_cause(id, share, situation);
  cause.gain = bound_without(share);
  if (const ProfiledLine* line = situation.profile.loop.line_of(wire::Stage::kCopy)) {
    cause.where = cause.fix.where = line->where;
  }
  const double steps = device.seen_ns / (situation.step_ms() * 1e6);
  add_evidence(cause, "copied to the device, no kernel beside it, per step", share * situation.step_ms(), "ms",
               kDeviceRecords);
  add_evidence(cause, "copying to the device, per step", device.copy_ns() / 1e6 / steps, "ms", kDeviceRecords);
  add_evidence(cause, "rate of these copies", copies.gb_per_s(), "GB/s", kDeviceRecords);
  add_evidence(cause, "of these, per step", copies.bytes / 1e6 / steps, "MB", kDeviceRecords);
  add_evidence(cause, "kernels running", device.busy(), "share", kDeviceRecords);
  return cause;
}

}  // namespace fullbore::diagnose
