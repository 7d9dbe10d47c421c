// See gpu_account.h.
#include "diagnose/gpu_account.h"

#include <algorithm>

namespace fullbore::diagnose {
namespace {

// Of the body: shorter waits for the device are those at the end of an epoch, of a logger now and then.
constexpr double kLeastWaits = 0.02;
// A wait in every second step is one of the loop's own.
constexpr double kWaitsPerStep = 0.5;

double of(const GpuEvidence& device, Idle why) {
  return device.per_iteration(device.idle_ns[static_cast<std::size_t>(why)]);
}

// How long the thread stands still for the device in a plain step. A tracer makes launching slower and such waits
// shorter, so that of both figures the larger is nearer.
double device_wait_ns(const GpuEvidence& device, const PlainBody& plain) {
  const double traced_ns = device.per_iteration(device.device_wait_ns);
  const bool every_step = device.per_iteration(device.device_waits) >= kWaitsPerStep;
  return every_step ? std::max(traced_ns, plain.reading * plain.ns) : traced_ns;
}

}  // namespace

DeviceSplit split_of(const GpuEvidence& device, const PlainBody& plain) {
  DeviceSplit split;
  if (device.input_wait_ns > 0) split.hidden = device.hidden_wait_ns / device.input_wait_ns;
  const double all_busy_ns = device.per_iteration(device.busy_ns());
  const double busy_ns = std::max(0.0, all_busy_ns - device.per_iteration(device.hidden_wait_ns));
  const double compute_ns = all_busy_ns > 0 ? busy_ns * device.compute_ns / device.busy_ns() : 0;
  const double copy_ns = of(device, Idle::kCopy), gap_ns = of(device, Idle::kDeviceGap);
  const double traced_late_ns = of(device, Idle::kHostSync) + of(device, Idle::kLaunch);
  const double slower_ns = std::max(0.0, busy_ns + copy_ns + gap_ns + traced_late_ns - plain.ns);
  const double late_ns = std::max(0.0, traced_late_ns - slower_ns);

  double launch_ns = late_ns - std::min(late_ns, of(device, Idle::kHostSync));
  const double waits_ns = device_wait_ns(device, plain);
  if (waits_ns >= kLeastWaits * plain.ns) {
    const double own_ns = plain.ns - waits_ns - device.per_iteration(device.copy_wait_ns);
    launch_ns = std::clamp(own_ns - all_busy_ns, 0.0, launch_ns);
  }
  const double all_ns = busy_ns + copy_ns + gap_ns + late_ns;
  if (all_ns <= 0) {
    split.body.compute = 1;
    return split;
  }
  split.body = {compute_ns / all_ns, (busy_ns - compute_ns) / all_ns,
                copy_ns / all_ns,    (late_ns - launch_ns) / all_ns,
                launch_ns / all_ns,  gap_ns / all_ns};
  return split;
}

Account to_device_account(const Accounted& accounted, bool wait_known, const DeviceSplit& split) {
  Account account = to_account(accounted, wait_known);
  if (account.parts.empty()) return account;
  // Reads and copies that the hook saw are in the body: the trace has them itself, and exactly.
  const double body_ns = accounted.whole_body_ns();
  const double wait_ns = wait_known ? accounted.claim_ns(Claim::kInputWait) : 0;
  const double iterations = static_cast<double>(accounted.iterations);
  const auto put = [&](const char* id, double ns) {
    account.parts[id] = {ns / 1e6 / iterations, ns / accounted.total_ns};
  };
  account.tier = "kernels_no_launch";
  account.parts.erase("model");
  std::erase_if(account.other, [](const auto& named) { return named.first == "copy_calls"; });
  if (wait_known) put("input_wait", wait_ns * (1 - split.hidden));
  put("gpu_compute", wait_ns * split.hidden + body_ns * split.body.compute);
  put("h2d_exposed", body_ns * split.body.copy);
  put("host_sync", body_ns * split.body.host_sync);
  put("launch", body_ns * split.body.launch);
  put("device_gap", body_ns * split.body.device_gap);
  put("collective_wait", accounted.claim_ns(Claim::kCollective) + body_ns * split.body.collective);
  put("unknown", accounted.unknown_ns);
  put("other", accounted.claim_ns(Claim::kProfiler) + accounted.between_epochs_ns);
  return account;
}

}  // namespace fullbore::diagnose
