#include "cli/limits.h"

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "observe/samplers/cgroup_limits.h"
#include "observe/samplers/cgroup_paths.h"

namespace fullbore::cli {
namespace {

int cores_in_affinity() {
  // Room for 8192 cores; a smaller mask is refused on larger machines.
  cpu_set_t* set = CPU_ALLOC(8192);
  const std::size_t size = CPU_ALLOC_SIZE(8192);
  CPU_ZERO_S(size, set);
  const int cores = ::sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 1;
  CPU_FREE(set);
  return std::max(cores, 1);
}

std::optional<std::int64_t> shm_free() {
  struct statvfs status = {};
  if (::statvfs("/dev/shm", &status) != 0) return std::nullopt;
  return static_cast<std::int64_t>(status.f_bavail * status.f_frsize);
}

std::optional<std::int64_t> memory_available(const base::FileReader& files) {
  const auto text = files.read("/proc/meminfo");
  if (!text) return std::nullopt;
  const std::size_t at = text->find("MemAvailable:");
  if (at == std::string::npos) return std::nullopt;
  return std::strtoll(text->c_str() + at + 13, nullptr, 10) * 1024;
}

}  // namespace

observe::FixPlan machine_limits(const base::FileReader& files) {
  observe::FixPlan plan;
  plan.usable_cores = cores_in_affinity();
  plan.shm_free_bytes = shm_free();
  plan.memory_available_bytes = memory_available(files);
  const observe::CgroupPaths groups = observe::find_cgroups(files, 0);
  if (groups.cpu) {
    if (const auto quota = observe::tightest_cpu_quota(files, *groups.cpu)) {
      plan.quota_cores = quota->cores;
      plan.usable_cores = std::clamp(static_cast<int>(std::floor(quota->cores)), 1, plan.usable_cores);
    }
  }
  if (groups.memory) {
    if (const auto headroom = observe::memory_headroom(files, *groups.memory)) {
      const auto bytes = static_cast<std::int64_t>(*headroom);
      plan.memory_available_bytes = std::min(plan.memory_available_bytes.value_or(bytes), bytes);
    }
  }
  return plan;
}

}  // namespace fullbore::cli
