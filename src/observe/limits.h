// What a process may use of its machine: cores, shared memory, memory. Not what the machine has: a container with a
// quota of two cores on a host of 128 must not be given 128 workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.h"
#include "observe/samplers/file_space.h"

namespace fullbore::observe {

struct UsableCores {
  std::optional<double> usable_cores;  // min(affinity, cpuset, quota)
  std::optional<double> quota_cores;   // absent: none is set, or not known (`why`)
  std::optional<double> cpuset_cores;
  std::vector<int> affinity;  // core numbers, ascending; empty: not known
  std::string why;            // what could not be read, or ""
};

// `pid` 0 is the caller itself, here and below.
UsableCores read_usable_cores(const base::FileReader& files, std::uint32_t pid);

struct UsableLimits {
  double usable_cores = 1;  // at least a fraction of one; 1 if nothing is known (`why`)
  std::optional<double> quota_cores;
  int affinity_cores = 1;
  std::optional<std::uint64_t> shm_free;
  std::optional<std::uint64_t> memory_available;  // MemAvailable, or what the memory cgroups leave, the lower
  std::vector<std::string> why;                   // one line per number that is absent or assumed
};

UsableLimits read_limits(const base::FileReader& files, std::uint32_t pid, const SpaceOf& space_of = file_space);

}  // namespace fullbore::observe
