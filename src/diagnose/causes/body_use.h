// What the training thread's time in the loop body was: on a core, in want of one, or neither.
#pragma once

#include <optional>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Shares of the steady loop bodies; what is left of 1 was spent off the core for another reason.
struct BodyUse {
  double on_core = 0;
  double queued = 0;  // wanted a core and had none; 0 where the kernel does not tell

  double blocked() const { return 1 - on_core - queued; }
};

// nullopt where the thread's time on a core was not measured.
std::optional<BodyUse> body_use(const Situation& situation);

}  // namespace fullbore::diagnose
