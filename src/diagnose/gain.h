// How much a change could gain at most. Bounds only, from exposed time and from the cores there are: what a change
// really gains is for a replay or a measurement to say.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Amdahl: the share of the time vanishes and nothing takes its place.
Gain bound_without(double share);
// The same for input that is made by processes: the CPU work of a step still has to fit the usable cores.
Gain bound_with_cores(const Situation& situation, double share);

// CPU milliseconds that this trainer and its workers burn per step; nullopt if it was not measured.
std::optional<double> cpu_ms_per_step(const Situation& situation);

// Workers that would hide the wait: making one batch over the time that the loop leaves for it, within the usable cores
// (or, when samples mostly wait for I/O, within four per core).
int recommended_workers(const Situation& situation);

}  // namespace fullbore::diagnose
