// What the causes about a device that waits for launches have in common.
#pragma once

#include <algorithm>
#include <optional>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct Launching {
  double late = 0;       // share of the steady step in which no kernel ran and the thread was at its own work
  double own_ms = 0;     // that work, per step: the thread waits neither for input nor for the device
  double held_up = 0;    // share of it in which the thread was not running although it had work
  double elsewhere = 0;  // share of it in which it was off its core for reasons of its own: sleeping, files, queues
  std::optional<double> lock;  // share of the thread's time that it waited for the interpreter's lock

  double kernels_ms = 0;  // that the device works, per step
  double step_ms = 0;

  // Of being late, what would remain if the thread were never held up: its work then overlaps with the device's, and
  // only what it is longer remains.
  double remaining() const { return std::clamp((own_ms * (1 - held_up) - kernels_ms) / step_ms, 0.0, late); }
  double late_because_held_up() const { return late - remaining(); }
  // Of what remains, the thread's work on its core.
  double late_because_launching() const {
    return held_up < 1 ? remaining() * std::max(0.0, 1 - elsewhere / (1 - held_up)) : 0;
  }
};

// nullopt without windows, or where the thread's time on a core was not measured. torch runs the backward pass in a
// thread of its own, for which the training thread waits: both count as one.
std::optional<Launching> measure_launching(const Situation& situation);

}  // namespace fullbore::diagnose
