// Other programs use the same GPU: their kernels run where this job's would, and no change to this job helps.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/device_counters.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

constexpr double kOthersMost = 0.5;  // of the readings show another program

}  // namespace

std::optional<Cause> gpu_shared(const Situation& situation) {
  const auto others = device_mean(situation, "gpu.other_processes"), busy = device_mean(situation, "gpu.busy");
  if (!situation.device || !others || !busy || *others < kOthersMost) return std::nullopt;
  // The driver counts a period as busy in which any program's kernel ran; this job's own are known exactly.
  const double own = situation.device->busy();
  const double share = std::clamp(*busy - own, 0.0, 1 - own);
  if (share < kWarningShare) return std::nullopt;

  Cause cause = make_cause("gpu_shared", share, situation);
  cause.where = cause.fix.where = std::nullopt;
  cause.gain = bound_without(share);
  cause.summary = fmt::format(
      "Other programs use this GPU: it is busy {} of the time, {} of it with this job's kernels; alone on it, training "
      "would be at most {} faster.",
      percent(*busy), percent(own), factor(*cause.gain.max));
  add_evidence(cause, "other programs on the device, mean", others, "", kDriverCounters);
  add_evidence(cause, "device busy", busy, "share", kDriverCounters);
  add_evidence(cause, "this job's kernels running", own, "share", kDeviceRecords);
  cause.fix.text = "find them with nvidia-smi, and move them or this job to another device (CUDA_VISIBLE_DEVICES)";
  cause.fix.risk = "none";
  return cause;
}

}  // namespace fullbore::diagnose
