#include "diagnose/causes/launching.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "diagnose/causes/body_use.h"
#include "diagnose/causes/lock_looks.h"

namespace fullbore::diagnose {
namespace {

// Of the loop body, waiting for the interpreter's lock.
constexpr double kFoughtOver = 0.1;

// Seconds per second of torch's threads that run the backward pass and launch its kernels.
double backward_rate(const Situation& situation, const char* metric) {
  const std::string prefix = fmt::format("backward/{}/", situation.trainer->pid);
  const Iterations& judged = situation.iterations;
  return sum_of_rates(*situation.run, metric, prefix, judged.whole_begin_ns, judged.whole_end_ns).value_or(0);
}

}  // namespace

std::optional<Launching> measure_launching(const Situation& situation) {
  const auto use = body_use(situation);
  if (!situation.device || !situation.on_device || !use) return std::nullopt;
  const GpuEvidence& device = *situation.device;
  const double body_ns = device.seen_ns - device.input_wait_ns;
  const double own = body_ns > 0 ? device.busy_body_ns / body_ns : 0;
  if (own <= 0) return std::nullopt;
  const auto looks = lock_looks(situation);
  Launching out;
  if (looks) out.lock = looks->share();
  const double locked = std::min(use->blocked(), out.lock.value_or(0));
  out.late = situation.device_part(&DeviceBody::launch);
  out.step_ms = situation.step_ms();
  out.own_ms = situation.device_share(device.busy_body_ns) * out.step_ms;
  out.kernels_ms = device.per_iteration(device.busy_ns()) / 1e6;
  const double of_body = std::max(1e-6, 1 - situation.loop_wait_share());
  const double backward = backward_rate(situation, "thread.cpu_s") / of_body;
  const double backward_queued = backward_rate(situation, "thread.runq_s") / of_body;
  // It may sleep while it waits for the device, or spin.
  const double waiting = device.device_wait_ns / body_ns;
  const double elsewhere = std::max(0.0, use->blocked() - locked - backward - backward_queued - waiting);
  // Where the lock is fought over, the thread of the backward pass, which nobody looks at, waits for it as well.
  const bool fought_over = locked >= kFoughtOver;
  const double held_up = use->queued + backward_queued + locked + (fought_over ? elsewhere : 0);
  out.held_up = std::clamp(held_up / own, 0.0, 1.0);
  out.elsewhere = fought_over ? 0 : std::clamp(elsewhere / own, 0.0, 1 - out.held_up);
  return out;
}

}  // namespace fullbore::diagnose
