// The figures of the steady iterations: how long, how even, how many samples. And whether both halves of the run tell
// the same story.
#pragma once

#include <cstdint>
#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/iterations.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

Steps measure_steps(const Trainer& trainer, const Iterations& iterations, bool wait_known);

// Share of input wait in the two halves of the steady time, and where they part.
struct Halves {
  std::optional<double> first, second;
  std::optional<std::int64_t> changed_ns;  // set when they disagree
};

Halves compare_halves(const Iterations& iterations);

}  // namespace fullbore::diagnose
