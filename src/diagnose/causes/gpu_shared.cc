// Other programs use the same GPU: their kernels run where this job's would, and no change to this job helps.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Of the device that the trainer uses, while the run was judged.
std::optional<double> mean_of(const Situation& situation, const char* metric) {
  for (const auto& device : situation.trainer->rank->gpu_devices) {
    if (device.pid != situation.trainer->pid) continue;
    const std::string bus(situation.run->name(device.record.pci_bus_id));
    return mean_in(situation.run->find(metric, bus), situation.iterations.whole_begin_ns,
                   situation.iterations.whole_end_ns);
  }
  return std::nullopt;
}

constexpr double kOthersMost = 0.5;  // of the readings show another program

}  // namespace

std::optional<Cause> gpu_shared(const Situation& situation) {
  const auto others = mean_of(situation, "gpu.other_processes"), busy = mean_of(situation, "gpu.busy");
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
  add_evidence(cause, "other programs on the device, mean", others, "", "NVML");
  add_evidence(cause, "device busy", busy, "share", "NVML");
  add_evidence(cause, "this job's kernels running", own, "share", kDeviceRecords);
  cause.fix.text = "find them with nvidia-smi, and move them or this job to another device (CUDA_VISIBLE_DEVICES)";
  cause.fix.risk = "none";
  return cause;
}

}  // namespace fullbore::diagnose
