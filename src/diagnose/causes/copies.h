// What the causes about copies to the device have in common.
#pragma once

#include "diagnose/gpu_evidence.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

inline constexpr const char* kDeviceRecords = "CUPTI";

// The loop stands still for most of what is copied out of page-locked memory.
bool copies_block(const GpuEvidence& device);

// With the line that copies most, the bound, and how much was copied how fast.
Cause make_copy_cause(const std::string& id, double share, const CopiesFrom& copies, const Situation& situation);

}  // namespace fullbore::diagnose
