#include "observe/limits.h"

#include <algorithm>

#include "observe/samplers/cgroup_limits.h"
#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

std::optional<std::uint64_t> available_memory(const base::FileReader& files, std::uint32_t pid,
                                              std::vector<std::string>& why) {
  const auto meminfo = files.read("/proc/meminfo");
  const auto host_kib = meminfo ? value_of(*meminfo, "MemAvailable:") : std::nullopt;
  if (!host_kib) why.push_back("memory of the host: " + (meminfo ? "no line MemAvailable" : meminfo.error().message()));
  const CgroupPaths paths = find_cgroups(files, pid);
  if (!paths.memory) why.push_back("memory control group: " + paths.why);
  const auto headroom = paths.memory ? memory_headroom(files, *paths.memory) : std::nullopt;
  if (!host_kib) return headroom;
  return std::min(*host_kib * 1024, headroom.value_or(UINT64_MAX));
}

}  // namespace

UsableCores read_usable_cores(const base::FileReader& files, std::uint32_t pid) {
  UsableCores cores;
  const auto status = files.read(proc_path(pid, "status"));
  if (auto allowed = status ? allowed_cpus(*status) : std::nullopt) cores.affinity = std::move(*allowed);
  if (cores.affinity.empty())
    cores.why = status ? "no line Cpus_allowed_list in " + proc_path(pid, "status") : status.error().message();

  const CgroupPaths paths = find_cgroups(files, pid);
  if (!paths.cpu && cores.why.empty()) cores.why = "cpu control group: " + paths.why;
  if (const auto quota = paths.cpu ? tightest_cpu_quota(files, *paths.cpu) : std::nullopt)
    cores.quota_cores = quota->cores;
  if (const auto set = paths.cpuset ? cpuset_cores(files, *paths.cpuset) : std::nullopt) {
    cores.cpuset_cores = static_cast<double>(set->size());
  }
  auto bound = [&](double limit) { cores.usable_cores = std::min(cores.usable_cores.value_or(limit), limit); };
  if (!cores.affinity.empty()) bound(static_cast<double>(cores.affinity.size()));
  if (cores.cpuset_cores) bound(*cores.cpuset_cores);
  if (cores.quota_cores) bound(*cores.quota_cores);
  return cores;
}

UsableLimits read_limits(const base::FileReader& files, std::uint32_t pid, const SpaceOf& space_of) {
  UsableLimits limits;
  const UsableCores cores = read_usable_cores(files, pid);
  if (!cores.why.empty()) limits.why.push_back(cores.why);
  if (!cores.usable_cores) limits.why.push_back("usable cores are not known; one is assumed");
  limits.usable_cores = cores.usable_cores.value_or(1);
  limits.quota_cores = cores.quota_cores;
  limits.affinity_cores = std::max(1, static_cast<int>(cores.affinity.size()));
  const auto shm = shared_memory_of(pid, space_of);
  if (shm) limits.shm_free = shm->free_bytes;
  if (!shm) limits.why.push_back("shared memory: " + shm.error().message());
  limits.memory_available = available_memory(files, pid, limits.why);
  return limits;
}

}  // namespace fullbore::observe
