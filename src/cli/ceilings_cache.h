// What `fullbore ceilings` measured on this machine, kept for the runs to come: measuring takes the GPU for a moment,
// so a run that is watched must not do it. A file per user; entries of several machines may stand in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_reader.h"

namespace fullbore::cli {

// Of one GPU in its slot.
struct KeptCeilings {
  std::string pci_bus_id;  // "0000:18:00.0", lower case
  std::string name;
  std::string measured_utc;             // 2026-11-29T14:03:11Z
  std::map<std::string, double> rates;  // as in record::RunInfo::ceilings
};

// ceilings.json in the user's cache, "" where there is no such folder.
std::string ceilings_path();

// Replaces the entries of the same GPUs, driver and host; the file is replaced as a whole, so a reader sees the old or
// the new one. What is not JSON is written anew.
base::Expected<void> keep_ceilings(const std::string& path, const std::vector<KeptCeilings>& measured,
                                   const base::FileReader& files);

// Rates of the first GPU that a process with this CUDA_VISIBLE_DEVICES (null: not set) sees and that was measured on
// this host, in this slot, with this driver; empty if there is none.
std::map<std::string, double> known_ceilings(const std::string& path, const base::FileReader& files,
                                             const char* visible);

}  // namespace fullbore::cli
