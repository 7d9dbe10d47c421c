#include "observe/samplers/cgroup_limits.h"

#include <algorithm>
#include <array>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// v1 writes "no limit" as the largest whole number of pages.
constexpr std::uint64_t kUnlimitedV1 = std::uint64_t{1} << 62;

std::optional<std::uint64_t> read_number(const base::FileReader& files, const std::string& path) {
  const auto text = files.read(path);
  return text ? number(trimmed(*text)) : std::nullopt;
}

std::optional<double> quota_v2(const base::FileReader& files, const std::string& directory) {
  const auto text = files.read(directory + "/cpu.max");
  const auto columns = text ? fields(*text, 2) : std::vector<std::string_view>();
  if (columns.size() < 2) return std::nullopt;
  const auto quota = number(columns[0]), period = number(columns[1]);
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> quota_v1(const base::FileReader& files, const std::string& directory) {
  const auto quota = read_number(files, directory + "/cpu.cfs_quota_us");  // -1 is no number here: unlimited
  const auto period = read_number(files, directory + "/cpu.cfs_period_us");
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void lower(std::optional<std::uint64_t>& limit, std::optional<std::uint64_t> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

// "254:0 rbps=1048576 wbps=max riops=max wiops=120"
void read_io_max(std::string_view text, std::map<std::string, IoLimit>& limits) {
  for (const std::string_view line : lines(text)) {
    const auto columns = fields(line);
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const std::size_t equals = columns[i].find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = columns[i].substr(0, equals);
      const auto value = number(columns[i].substr(equals + 1));  // "max" is no number: unlimited
      if (!value) continue;
      IoLimit& limit = limits[std::string(columns[0])];
      if (key == "rbps") lower(limit.read_bytes, value);
      if (key == "wbps") lower(limit.write_bytes, value);
      if (key == "riops") lower(limit.read_requests, value);
      if (key == "wiops") lower(limit.write_requests, value);
    }
  }
}

struct ThrottleFile {
  const char* name;
  std::optional<std::uint64_t> IoLimit::* limit;
};
constexpr std::array<ThrottleFile, 4> kThrottleFiles = {{
    {"/blkio.throttle.read_bps_device", &IoLimit::read_bytes},
    {"/blkio.throttle.write_bps_device", &IoLimit::write_bytes},
    {"/blkio.throttle.read_iops_device", &IoLimit::read_requests},
    {"/blkio.throttle.write_iops_device", &IoLimit::write_requests},
}};

void read_throttle_v1(const base::FileReader& files, const std::string& directory,
                      std::map<std::string, IoLimit>& limits) {
  for (const ThrottleFile& file : kThrottleFiles) {
    const auto text = files.read(directory + file.name);
    if (!text) continue;
    for (const std::string_view line : lines(*text)) {
      const auto columns = fields(line, 2);
      if (columns.size() == 2) lower(limits[std::string(columns[0])].*file.limit, number(columns[1]));
    }
  }
}

}  // namespace

std::optional<CpuQuota> tightest_cpu_quota(const base::FileReader& files, const Hierarchy& cpu) {
  std::optional<CpuQuota> tightest;
  for (const std::string& directory : cpu.directories) {
    const auto cores = cpu.version == 2 ? quota_v2(files, directory) : quota_v1(files, directory);
    if (cores && (!tightest || *cores < tightest->cores)) tightest = CpuQuota{*cores, directory};
  }
  return tightest;
}

std::optional<std::vector<int>> cpuset_cores(const base::FileReader& files, const Hierarchy& cpuset) {
  for (const std::string& directory : cpuset.directories) {
    for (const char* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
      const auto text = files.read(directory + name);
      if (const auto cores = text ? cpu_list(*text) : std::nullopt) return cores;
    }
  }
  return std::nullopt;
}

MemoryUse memory_use(const base::FileReader& files, int version, const std::string& directory) {
  MemoryUse use;
  use.directory = directory;
  const auto stat = files.read(directory + "/memory.stat");
  auto in_stat = [&](const char* key) { return stat ? value_of(*stat, key) : std::nullopt; };
  if (version == 2) {
    use.limit_bytes = read_number(files, directory + "/memory.max");
    lower(use.limit_bytes, read_number(files, directory + "/memory.high"));
    use.used_bytes = read_number(files, directory + "/memory.current");
    use.file_bytes = in_stat("file");
    use.anon_bytes = in_stat("anon");
    use.refault_file = in_stat("workingset_refault_file");
    const auto events = files.read(directory + "/memory.events");
    if (events) use.oom_kills = value_of(*events, "oom_kill");
    return use;
  }
  use.limit_bytes = read_number(files, directory + "/memory.limit_in_bytes");
  if (use.limit_bytes && *use.limit_bytes >= kUnlimitedV1) use.limit_bytes.reset();
  use.used_bytes = read_number(files, directory + "/memory.usage_in_bytes");
  use.file_bytes = in_stat("total_cache");
  use.anon_bytes = in_stat("total_rss");
  use.refault_file = in_stat("total_workingset_refault_file");
  const auto oom = files.read(directory + "/memory.oom_control");
  if (oom) use.oom_kills = value_of(*oom, "oom_kill");
  return use;
}

MemoryUse tightest_memory(const base::FileReader& files, const Hierarchy& memory) {
  MemoryUse tightest = memory_use(files, memory.version, memory.own());
  for (std::size_t i = 1; i < memory.directories.size(); ++i) {
    MemoryUse use = memory_use(files, memory.version, memory.directories[i]);
    if (use.limit_bytes && (!tightest.limit_bytes || *use.limit_bytes < *tightest.limit_bytes))
      tightest = std::move(use);
  }
  return tightest;
}

std::optional<std::uint64_t> memory_headroom(const base::FileReader& files, const Hierarchy& memory) {
  std::optional<std::uint64_t> headroom;
  for (const std::string& directory : memory.directories) {
    const MemoryUse use = memory_use(files, memory.version, directory);
    if (!use.limit_bytes || !use.used_bytes) continue;
    const std::uint64_t held = *use.used_bytes - std::min(*use.used_bytes, use.file_bytes.value_or(0));
    lower(headroom, *use.limit_bytes - std::min(*use.limit_bytes, held));
  }
  return headroom;
}

std::map<std::string, IoLimit> tightest_io_limits(const base::FileReader& files, const Hierarchy& io) {
  std::map<std::string, IoLimit> limits;
  for (const std::string& directory : io.directories) {
    if (io.version == 1) {
      read_throttle_v1(files, directory, limits);
    } else if (const auto text = files.read(directory + "/io.max")) {
      read_io_max(*text, limits);
    }
  }
  return limits;
}

}  // namespace fullbore::observe
