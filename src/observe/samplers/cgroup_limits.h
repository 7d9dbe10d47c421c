// The limits that a process's control groups set, the tightest of all ancestors, in one form for v1 and v2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_reader.h"
#include "observe/samplers/cgroup_paths.h"

namespace fullbore::observe {

struct CpuQuota {
  double cores = 0;
  std::string directory;  // of the group that sets it, where its throttling is counted
};

// Nothing: no group on the way sets one.
std::optional<CpuQuota> tightest_cpu_quota(const base::FileReader& files, const Hierarchy& cpu);

// The cores that the group may use; nothing if that cannot be read.
std::optional<std::vector<int>> cpuset_cores(const base::FileReader& files, const Hierarchy& cpuset);

struct MemoryUse {
  std::string directory;
  std::optional<std::uint64_t> limit_bytes;  // memory.max or memory.high, the lower; nothing: unlimited
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> file_bytes;  // of it page cache, which is given back under pressure
  std::optional<std::uint64_t> anon_bytes;
  std::optional<std::uint64_t> refault_file;
  std::optional<std::uint64_t> oom_kills;
};

MemoryUse memory_use(const base::FileReader& files, int version, const std::string& directory);
// Of the group with the lowest limit; of the own group if none has one.
MemoryUse tightest_memory(const base::FileReader& files, const Hierarchy& memory);
// How much more the group may take before any limit on the way binds; nothing without a limit.
std::optional<std::uint64_t> memory_headroom(const base::FileReader& files, const Hierarchy& memory);

// Per second; absent: unlimited.
struct IoLimit {
  std::optional<std::uint64_t> read_bytes, write_bytes, read_requests, write_requests;
};

// By device number ("254:0").
std::map<std::string, IoLimit> tightest_io_limits(const base::FileReader& files, const Hierarchy& io);

}  // namespace fullbore::observe
