// The replay must explain the run as it was before it may say what another run would be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diagnose/replay/loop.h"
#include "diagnose/replay/simulate.h"

namespace fullbore::diagnose {
struct Situation;
}

namespace fullbore::diagnose::replay {

// A replay of the present settings that misses the measured step by more than this explains nothing.
inline constexpr double kMostError = 0.10;

struct Calibration {
  std::optional<Loop> loop;  // absent where the run cannot be replayed at all
  Outcome now;               // of the present settings
  double error = 0;          // replayed over measured steady step, less 1
  double whole_error = 0;    // the same of the whole run
  std::string why;           // it predicts nothing, "" if it does

  bool explains() const { return loop && why.empty(); }
  bool explains_whole() const { return explains() && whole_error >= -kMostError && whole_error <= kMostError; }
};

Calibration calibrate(const Situation& situation);
Calibration calibrate(Loop loop);

// The step that a changed loop would have. What the replay of the present misses is a matter of waiting: it shrinks
// with the wait.
double step_after(const Calibration& calibration, const Outcome& now, const Outcome& changed);
double whole_after(const Calibration& calibration, const Outcome& now, const Outcome& changed);

}  // namespace fullbore::diagnose::replay
