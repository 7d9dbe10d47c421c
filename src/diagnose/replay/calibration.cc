// See calibration.h.
#include "diagnose/replay/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/replay/record_loop.h"

namespace fullbore::diagnose::replay {
namespace {

constexpr double kNoWaitMs = 0.1;

}  // namespace

Calibration calibrate(Loop loop) {
  Calibration calibration;
  calibration.now = simulate(loop, {});
  if (loop.step_ms <= 0 || calibration.now.step_ms <= 0) {
    calibration.why = "no steady step was seen";
    return calibration;
  }
  calibration.error = calibration.now.step_ms / loop.step_ms - 1;
  if (loop.whole_ms > 0) calibration.whole_error = calibration.now.whole_ms / loop.whole_ms - 1;
  if (std::abs(calibration.error) > kMostError)
    calibration.why =
        fmt::format("a replay of the present settings gives a step of {:.1f} ms where {:.1f} ms were measured",
                    calibration.now.step_ms, loop.step_ms);
  calibration.loop = std::move(loop);
  return calibration;
}

Calibration calibrate(const Situation& situation) {
  auto loop = record_loop(situation);
  if (loop) return calibrate(*std::move(loop));
  Calibration calibration;
  calibration.why = loop.error();
  return calibration;
}

double step_after(const Calibration& calibration, const Outcome& now, const Outcome& changed) {
  const double missed = calibration.loop->step_ms - calibration.now.step_ms;
  const double left = now.wait_ms > kNoWaitMs ? std::clamp(changed.wait_ms / now.wait_ms, 0.0, 1.0) : 1.0;
  return std::max(1e-6, changed.step_ms + missed * left);
}

double whole_after(const Calibration& calibration, const Outcome& now, const Outcome& changed) {
  const double missed = calibration.loop->whole_ms - calibration.now.whole_ms;
  const double left = now.wait_ms > kNoWaitMs ? std::clamp(changed.wait_ms / now.wait_ms, 0.0, 1.0) : 1.0;
  return std::max(1e-6, changed.whole_ms + missed * left);
}

}  // namespace fullbore::diagnose::replay
