// Batches go to the device out of pageable memory: the driver copies them through a small buffer of its own, at a tenth
// of what the link gives, and the host can do nothing else meanwhile.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

std::optional<Cause> pageable_copy(const Situation& situation) {
  if (!situation.device) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double share = exposed_pageable(situation);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_copy_cause("pageable_copy", share, device.pageable, situation);
  cause.summary = fmt::format(
      "The GPU is idle {} of each step while batches are copied to it out of pageable memory, at {:.1f} GB/s{}; from "
      "page-locked memory, a batch ahead, it would be at most {} faster.",
      percent(share), device.pageable.gb_per_s().value_or(0), in_place(cause.where), factor(*cause.gain.max));
  add_evidence(cause, "a copy from page-locked memory here", pinned_rate(situation), "GB/s",
               situation.run->info.ceilings.empty() ? kDeviceRecords : "fullbore ceilings");
  const LoaderFacts& loader = situation.loader;
  if (loader.pin_memory.value_or(true)) {
    cause.fix.text =
        "page-lock what is copied: pin_memory=True reaches tensors in lists, tuples and dictionaries, other types need "
        "a "
        "pin_memory() method; tensors made in the loop are made with pin_memory=True";
  } else {
    set_settings(cause, situation, {{"pin_memory", "False", "True"}});
    cause.fix.text = "pin_memory=True, and .to(device, non_blocking=True)";
  }
  cause.fix.risk = "as much page-locked host memory as batches are on their way; the numbers are the same";
  cause.why_not.push_back("non_blocking=True alone: out of pageable memory a copy blocks all the same");
  return cause;
}

}  // namespace fullbore::diagnose
