// How much a change could gain at most, from exposed time and from the cores there are (what it really gains is for the
// replay or a measurement to say), and how many workers to recommend.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Amdahl: the share of the time vanishes and nothing takes its place.
Gain bound_without(double share);
// The same for input that is made by processes: the CPU work of a step still has to fit the usable cores. `worker_cpu`
// is what of the workers' part is left after the change.
Gain bound_with_cores(const Situation& situation, double share, double worker_cpu = 1);

double trainers_on_host(const Resources& resources);  // that share the usable cores; 1 where not known
// CPU milliseconds that this trainer and its workers burn per step; nullopt if it was not measured.
std::optional<double> cpu_ms_per_step(const Situation& situation);

// Workers within the usable cores (or, when samples mostly wait for I/O, within four per core): the fewest with which a
// replay is as fast as with any number, or, without a replay, those that would hide the wait: making one batch over the
// time that the loop leaves for it.
int recommended_workers(const Situation& situation);

}  // namespace fullbore::diagnose
