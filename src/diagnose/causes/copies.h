// What the causes about copies to the device have in common.
#pragma once

#include "diagnose/gpu_evidence.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

inline constexpr const char* kDeviceRecords = "CUPTI";

// Shares of the steady step in which no kernel ran while batches were copied to the device, by how; 0 without windows.
// Out of pageable memory with the host's side of it.
double exposed_pageable(const Situation& situation);
double exposed_pinned(const Situation& situation);
double exposed_in_rows(const Situation& situation);  // of small copies, whatever the memory

// Of an exposed copy, what fits beside the kernels if it is made a batch ahead: they run no longer than they run, and
// some copies lie beside them already.
double hideable(const Situation& situation, double exposed);

// GB/s that a large copy out of page-locked memory reaches here: measured by `fullbore ceilings`, else as seen in this
// run; nullopt if neither is known.
std::optional<double> pinned_rate(const Situation& situation);

// The loop stands still for most of what is copied out of page-locked memory.
bool copies_block(const GpuEvidence& device);

// The line of the loop that copies most, if lines were timed.
void set_copy_line(Cause& cause, const Situation& situation);
// With that line, the bound, and how much was copied how fast.
Cause make_copy_cause(const std::string& id, double share, const CopiesFrom& copies, const Situation& situation);

}  // namespace fullbore::diagnose
