#include "diagnose/causes/copies.h"

#include <algorithm>

#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// A copy of a megabyte is long enough to show the rate of the link.
constexpr double kLargeCopyBytes = 1e6;

double copy_part(const Situation& situation) {
  return situation.device_part(&DeviceBody::copy);
}

}  // namespace

double exposed_in_rows(const Situation& situation) {
  if (!situation.device) return 0;
  return std::min(copy_part(situation), situation.device_share(situation.device->small.idle_ns));
}

double exposed_pinned(const Situation& situation) {
  if (!situation.device) return 0;
  const double left = copy_part(situation) - exposed_in_rows(situation);
  return std::clamp(situation.device_share(situation.device->pinned.exposed_ns), 0.0, std::max(0.0, left));
}

double exposed_pageable(const Situation& situation) {
  if (!situation.device || situation.device->pageable.count == 0) return 0;
  return std::max(0.0, copy_part(situation) - exposed_in_rows(situation) - exposed_pinned(situation));
}

double hideable(const Situation& situation, double exposed) {
  const GpuEvidence& device = *situation.device;
  const double hidden_ns = device.copy_ns() - device.pageable.exposed_ns - device.pinned.exposed_ns;
  return std::clamp(situation.device_share(device.busy_ns() - hidden_ns), 0.0, exposed);
}

std::optional<double> pinned_rate(const Situation& situation) {
  const auto& ceilings = situation.run->info.ceilings;
  if (const auto known = ceilings.find("pinned_h2d_gb_per_s"); known != ceilings.end()) return known->second;
  if (!situation.device) return std::nullopt;
  const CopiesFrom& pinned = situation.device->pinned;
  if (pinned.count == 0 || pinned.bytes < kLargeCopyBytes * static_cast<double>(pinned.count)) return std::nullopt;
  return pinned.gb_per_s();
}

bool copies_block(const GpuEvidence& device) {
  return device.waited_for > 0.5;
}

void set_copy_line(Cause& cause, const Situation& situation) {
  if (const ProfiledLine* line = situation.profile.loop.line_of(wire::Stage::kCopy)) {
    cause.where = cause.fix.where = line->where;
  }
}

Cause make_copy_cause(const std::string& id, double share, const CopiesFrom& copies, const Situation& situation) {
  const GpuEvidence& device = *situation.device;
  Cause cause = make_cause(id, share, situation);
  cause.gain = bound_without(share);
  set_copy_line(cause, situation);
  add_evidence(cause, "no kernel running while batches are copied, per step",
               situation.device_part(&DeviceBody::copy) * situation.step_ms(), "ms", kDeviceRecords);
  add_evidence(cause, "copying to the device, per step", device.per_iteration(device.copy_ns()) / 1e6, "ms",
               kDeviceRecords);
  add_evidence(cause, "rate of these copies", copies.gb_per_s(), "GB/s", kDeviceRecords);
  add_evidence(cause, "of these, per step", device.per_iteration(copies.bytes) / 1e6, "MB", kDeviceRecords);
  add_evidence(cause, "kernels running", device.busy(), "share", kDeviceRecords);
  return cause;
}

}  // namespace fullbore::diagnose
