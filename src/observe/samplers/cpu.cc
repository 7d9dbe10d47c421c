#include "observe/samplers/cpu.h"

#include <algorithm>
#include <array>
#include <string>

#include "observe/limits.h"
#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr std::int64_t kSlowPeriodNs = 1'000'000'000;

struct CoreTimes {
  double busy_s = 0, idle_s = 0, iowait_s = 0, steal_s = 0;
};

// "cpuN user nice system idle iowait irq softirq steal guest guest_nice"; guests are counted in user and nice already.
std::optional<CoreTimes> parse_times(std::string_view line) {
  const auto columns = fields(line, 9);
  if (columns.size() < 8) return std::nullopt;  // before steal (2.6.11) nothing runs
  std::array<double, 9> s{};
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const auto ticks = number(columns[i]);
    if (!ticks) return std::nullopt;
    s[i] = static_cast<double>(*ticks) / kTicksPerSecond;
  }
  return CoreTimes{s[1] + s[2] + s[3] + s[6] + s[7], s[4], s[5], s[8]};
}

// The lines of cores, "cpu " being the sum over them.
struct HostTimes {
  std::optional<CoreTimes> total;
  std::map<int, CoreTimes> cores;
};

HostTimes parse_stat(std::string_view text) {
  HostTimes host;
  for (const std::string_view line : lines(text)) {
    if (!line.starts_with("cpu")) break;  // they come first; what follows is long and not ours
    const auto times = parse_times(line);
    if (!times) continue;
    if (line.starts_with("cpu ")) host.total = times;
    const auto core = number<int>(line.substr(3, line.find(' ') - 3));
    if (core) host.cores[*core] = *times;
  }
  return host;
}

}  // namespace

void CpuSampler::sample_usable(const ProcessTree& tree, Readings& out) {
  const UsableCores usable = read_usable_cores(files_, tree.root_pid);
  if (!usable.affinity.empty()) {
    usable_ = usable.affinity;
    out.gauge("cpu.affinity_cores", "", "cores", static_cast<double>(usable.affinity.size()));
  } else if (!usable_) {
    out.missing("cpu.affinity_cores", usable.why);
  }
  if (usable.usable_cores) out.gauge("cpu.usable_cores", "", "cores", *usable.usable_cores);
}

void CpuSampler::add_usable_busy(const std::map<int, double>& busy_s) {
  for (const auto& [core, now] : busy_s) {
    const auto before = busy_before_.find(core);
    const bool counts = usable_ && std::ranges::binary_search(*usable_, core);
    if (before != busy_before_.end() && counts) usable_busy_s_ += std::max(0.0, now - before->second);
  }
  busy_before_ = busy_s;
}

void CpuSampler::sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) {
  const bool slow = now_ns >= slow_due_ns_;
  if (slow) {
    slow_due_ns_ = now_ns + kSlowPeriodNs;
    sample_usable(tree, out);
  }
  const auto text = files_.read("/proc/stat");
  if (!text) return out.missing("cpu", text.error().message());
  const HostTimes host = parse_stat(*text);
  if (!host.total || host.cores.empty()) return out.missing("cpu", "/proc/stat has no lines of cores");
  out.counter("cpu.busy_s", "total", "s", host.total->busy_s);
  out.counter("cpu.idle_s", "total", "s", host.total->idle_s);
  out.counter("cpu.iowait_s", "total", "s", host.total->iowait_s);
  out.counter("cpu.steal_s", "total", "s", host.total->steal_s);
  std::map<int, double> busy_s;
  for (const auto& [core, times] : host.cores) busy_s[core] = times.busy_s;
  add_usable_busy(busy_s);
  if (usable_) out.counter("cpu.usable_busy_s", "", "s", usable_busy_s_);
  if (!slow) return;
  out.gauge("cpu.online_cores", "", "cores", static_cast<double>(host.cores.size()));
  for (const auto& [core, times] : host.cores) {
    out.counter("cpu.busy_s", std::to_string(core), "s", times.busy_s);
    out.counter("cpu.iowait_s", std::to_string(core), "s", times.iowait_s);
  }
}

}  // namespace fullbore::observe
