// What the report says of the device: from its own records in trace windows, and from the driver's counters.
#pragma once

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Adds to `out`; nothing where there is no driver.
void describe_device(const Situation& situation, Diagnosis& out);

}  // namespace fullbore::diagnose
