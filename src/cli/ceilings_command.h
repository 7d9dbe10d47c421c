// `fullbore ceilings`: what the link between host memory and the GPU can do here, kept for the reports of later runs.
#pragma once

#include <string>
#include <vector>

#include "gpu/ceilings.h"

namespace fullbore::cli {

struct CeilingsCommandOptions {
  bool json = false;
};

// The table, or fullbore.ceilings/1.
std::string ceilings_text(const std::vector<gpu::DeviceCeilings>& devices);
std::string ceilings_json(const std::vector<gpu::DeviceCeilings>& devices, const std::string& kept_in);

// Measures, prints to stdout and keeps. 0; 1 if nothing could be measured.
int ceilings_command(const CeilingsCommandOptions& options);

}  // namespace fullbore::cli
