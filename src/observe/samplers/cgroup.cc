#include "observe/samplers/cgroup.h"

#include <cerrno>
#include <optional>
#include <string>

#include "observe/samplers/block_devices.h"
#include "observe/samplers/cgroup_limits.h"
#include "observe/samplers/kernel_text.h"
#include "observe/samplers/pressure.h"

namespace fullbore::observe {
namespace {

// A process may be moved to another group while it runs, batch systems do so at the start.
constexpr std::int64_t kFindPeriodNs = 10'000'000'000;

void gauge(Readings& out, const char* metric, std::string_view label, const char* unit,
           std::optional<std::uint64_t> value) {
  if (value) out.gauge(metric, label, unit, static_cast<double>(*value));
}

void counter(Readings& out, const char* metric, const char* unit, std::optional<std::uint64_t> value) {
  if (value) out.counter(metric, "", unit, static_cast<double>(*value));
}

}  // namespace

void CgroupSampler::find(std::uint32_t root_pid, std::int64_t now_ns) {
  if (now_ns < find_due_ns_) return;
  find_due_ns_ = now_ns + kFindPeriodNs;
  CgroupPaths paths = find_cgroups(files_, root_pid);
  const bool found = paths.cpu || paths.cpuset || paths.memory || paths.io || paths.unified;
  if (found || paths_.why.empty()) paths_ = std::move(paths);
}

void CgroupSampler::sample_cpu(Readings& out) {
  if (const auto cores = paths_.cpuset ? cpuset_cores(files_, *paths_.cpuset) : std::nullopt) {
    out.gauge("cgroup.cpuset_cores", "", "cores", static_cast<double>(cores->size()));
  }
  if (!paths_.cpu) return out.missing("cgroup.cpu", paths_.why);
  const auto quota = tightest_cpu_quota(files_, *paths_.cpu);
  out.gauge("cgroup.limited", "cpu", "bool", quota ? 1 : 0);
  if (!quota) return;
  out.gauge("cgroup.cpu_quota_cores", "", "cores", quota->cores);
  const auto stat = files_.read(quota->directory + "/cpu.stat");
  if (!stat) return out.missing("cgroup.cpu_throttled_s", stat.error().message());
  counter(out, "cgroup.cpu_periods", "periods", value_of(*stat, "nr_periods"));
  counter(out, "cgroup.cpu_throttled_periods", "periods", value_of(*stat, "nr_throttled"));
  const bool v2 = paths_.cpu->version == 2;
  if (const auto throttled = value_of(*stat, v2 ? "throttled_usec" : "throttled_time")) {
    out.counter("cgroup.cpu_throttled_s", "", "s", static_cast<double>(*throttled) / (v2 ? 1e6 : 1e9));
  }
}

void CgroupSampler::sample_memory(Readings& out) {
  if (!paths_.memory) return out.missing("cgroup.memory", paths_.why);
  const MemoryUse use = tightest_memory(files_, *paths_.memory);
  out.gauge("cgroup.limited", "memory", "bool", use.limit_bytes ? 1 : 0);
  gauge(out, "cgroup.memory_limit_bytes", "", "bytes", use.limit_bytes);
  gauge(out, "cgroup.memory_bytes", "", "bytes", use.used_bytes);
  gauge(out, "cgroup.memory_file_bytes", "", "bytes", use.file_bytes);
  gauge(out, "cgroup.memory_anon_bytes", "", "bytes", use.anon_bytes);
  counter(out, "cgroup.refault_file", "pages", use.refault_file);
  counter(out, "cgroup.oom_kills", "kills", use.oom_kills);
}

void CgroupSampler::sample_io(Readings& out) {
  if (!paths_.io) return out.missing("cgroup.io", paths_.why);
  const auto limits = tightest_io_limits(files_, *paths_.io);
  out.gauge("cgroup.limited", "io", "bool", limits.empty() ? 0 : 1);
  for (const auto& [numbers, limit] : limits) {
    const std::string device = device_name(files_, numbers).value_or(numbers);
    gauge(out, "cgroup.io_read_limit_bytes_per_s", device, "bytes/s", limit.read_bytes);
    gauge(out, "cgroup.io_write_limit_bytes_per_s", device, "bytes/s", limit.write_bytes);
    gauge(out, "cgroup.io_read_limit_iops", device, "1/s", limit.read_requests);
    gauge(out, "cgroup.io_write_limit_iops", device, "1/s", limit.write_requests);
  }
}

void CgroupSampler::sample_pressure(Readings& out) {
  if (!paths_.unified)
    return out.missing("cgroup.pressure", "only control groups v2 count pressure, and none is mounted");
  for (const char* resource : {"cpu", "io", "memory"}) {
    const auto text = files_.read(paths_.unified->own() + "/" + resource + ".pressure");
    if (!text) {
      const bool off = text.error().error_number() == EOPNOTSUPP;
      out.missing("cgroup.pressure",
                  off ? "pressure is switched off for this group or kernel" : text.error().message());
      continue;
    }
    const Stalls stalls = parse_stalls(*text);
    if (stalls.some_s) out.counter("cgroup.pressure_some_s", resource, "s", *stalls.some_s);
    if (stalls.full_s) out.counter("cgroup.pressure_full_s", resource, "s", *stalls.full_s);
  }
}

void CgroupSampler::sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) {
  find(tree.root_pid, now_ns);
  sample_cpu(out);
  sample_memory(out);
  sample_io(out);
  sample_pressure(out);
}

}  // namespace fullbore::observe
