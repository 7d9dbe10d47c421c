// The device runs below its clock because it is too hot, or the board or the host holds it down: kernels take longer,
// and nothing waits.
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

struct Reason {
  const char* metric;
  const char* words;
};

// A power cap is not among them: under full load it is how the device works.
constexpr Reason kReasons[] = {{"gpu.throttled_software_thermal_s", "it is too hot"},
                               {"gpu.throttled_hardware_thermal_s", "it is too hot"},
                               {"gpu.throttled_power_brake_s", "the host's power brake is on"}};

}  // namespace

std::optional<Cause> gpu_throttled(const Situation& situation) {
  if (!situation.device) return std::nullopt;
  double held = 0, most = 0;  // of the time
  const char* words = "";
  for (const Reason& reason : kReasons) {
    const double rate = device_rate(situation, reason.metric).value_or(0);
    held += rate;
    if (rate > most) most = rate, words = reason.words;
  }
  const auto clock = device_mean(situation, "gpu.sm_clock_mhz"),
             full = device_highest(situation, "gpu.max_sm_clock_mhz");
  if (!clock || !full || *full <= 0) return std::nullopt;
  const double slower = std::clamp(1 - *clock / *full, 0.0, 1.0);
  const double share = situation.device->busy() * std::min(1.0, held) * slower;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("gpu_throttled", share, situation);
  cause.where = cause.fix.where = std::nullopt;
  cause.gain = bound_without(share);
  cause.summary = fmt::format(
      "The GPU is held at {:.0f} of {:.0f} MHz for {} of the time because {}: its kernels, which run {} of the time, "
      "take "
      "longer; at its full clock training would be at most {} faster.",
      *clock, *full, percent(std::min(1.0, held)), words, percent(situation.device->busy()), factor(*cause.gain.max));
  add_evidence(cause, "clocks held down", std::min(1.0, held), "share", kDriverCounters);
  add_evidence(cause, "clock of the multiprocessors, mean", clock, "MHz", kDriverCounters);
  add_evidence(cause, "kernels running", situation.device->busy(), "share", kDeviceRecords);
  cause.fix.text =
      "see to its cooling and power: nvidia-smi -q -d PERFORMANCE,TEMPERATURE; in a cloud, another machine";
  cause.fix.risk = "none";
  return cause;
}

}  // namespace fullbore::diagnose
