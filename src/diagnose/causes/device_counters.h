// The driver's counters of the device that the trainer uses, while the run was judged.
#pragma once

#include <optional>
#include <string>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

inline constexpr const char* kDriverCounters = "NVML";

// PCI bus id of the first device that the trainer's process named, "" if it named none.
std::string device_bus(const Situation& situation);
// Of a gauge; nullopt if it was not read.
std::optional<double> device_mean(const Situation& situation, const char* metric);
std::optional<double> device_highest(const Situation& situation, const char* metric);  // over the whole run
// Of a counter, per second.
std::optional<double> device_rate(const Situation& situation, const char* metric);

}  // namespace fullbore::diagnose
