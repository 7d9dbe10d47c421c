#include "observe/samplers/process.h"

#include <algorithm>
#include <cerrno>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr std::size_t kMostSizes = 64;
constexpr std::int64_t kSizesPeriodNs = 10'000'000'000;
// smaps_rollup walks the page tables under the process's memory lock: once a second it was 60 % of the collector's
// cost.
constexpr double kLargestWalkBytes = 1024.0 * 1024 * 1024;

double resident_bytes(const TaskStat& stat) {
  return static_cast<double>(stat.resident_pages) * kPageBytes;
}

}  // namespace

void ProcessSampler::read_processes(const ProcessTree& tree, Readings& out) {
  alive_.clear();
  std::string refused;
  for (const std::uint32_t pid : tree.pids) {
    const std::string path = proc_path(pid, "stat");
    const auto text = files_.read(path);
    if (!text) {
      // An ended process is no failure, unless none was ever seen: hidepid=2 hides them the same way.
      const bool ended = measured_ && (text.error().error_number() == ENOENT || text.error().error_number() == ESRCH);
      if (!ended) refused = text.error().message() + (measured_ ? "" : " (is /proc mounted with hidepid?)");
      continue;
    }
    auto stat = parse_task_stat(*text);
    if (!stat) {
      refused = path + " is not of the shape that proc(5) documents";
      continue;
    }
    const std::uint64_t own = stat->user_ticks + stat->system_ticks;
    const std::uint64_t inherited = stat->children_user_ticks + stat->children_system_ticks;
    sum_.add({pid,
              stat->start_ticks,
              stat->parent,
              {own, stat->system_ticks, stat->major_faults},
              {inherited, stat->children_system_ticks, stat->children_major_faults}});
    alive_.push_back({pid, std::move(*stat), ""});
  }
  measured_ |= !alive_.empty();
  if (!refused.empty()) out.missing("tree", refused);
}

void ProcessSampler::report_tree(Readings& out) {
  const TreeSum::Counts& total = sum_.end_round();
  double resident = 0;
  for (const LiveProcess& process : alive_) resident += resident_bytes(process.stat);
  out.counter("tree.cpu_s", "", "s", static_cast<double>(total[0]) / kTicksPerSecond);
  out.counter("tree.cpu_system_s", "", "s", static_cast<double>(total[1]) / kTicksPerSecond);
  out.counter("tree.major_faults", "", "faults", static_cast<double>(total[2]));
  out.gauge("tree.rss_bytes", "", "bytes", resident);
  out.gauge("tree.processes", "", "processes", static_cast<double>(alive_.size()));
}

void ProcessSampler::report_workers(Readings& out) {
  for (const LiveProcess& process : alive_) {
    if (process.role != "worker") continue;
    const TaskStat& stat = process.stat;
    workers_.add({process.pid,
                  stat.start_ticks,
                  0,
                  {stat.user_ticks + stat.system_ticks, stat.system_ticks, stat.minor_faults},
                  {}});
    workers_seen_ = true;
  }
  const TreeSum::Counts& total = workers_.end_round();
  if (!workers_seen_) return;
  out.counter("workers.cpu_s", "", "s", static_cast<double>(total[0]) / kTicksPerSecond);
  out.counter("workers.cpu_system_s", "", "s", static_cast<double>(total[1]) / kTicksPerSecond);
  out.counter("workers.minor_faults", "", "faults", static_cast<double>(total[2]));
}

void ProcessSampler::report_sizes(Readings& out) {
  for (std::size_t i = 0; i < std::min(alive_.size(), kMostSizes); ++i) {
    out.gauge("process.rss_bytes", std::to_string(alive_[i].pid), "bytes", resident_bytes(alive_[i].stat));
  }
  report_share_of_memory(out);
}

void ProcessSampler::report_share_of_memory(Readings& out) {
  if (alive_.empty()) return;
  const LiveProcess& process = alive_[next_share_++ % std::min(alive_.size(), kMostSizes)];
  const std::string pid = std::to_string(process.pid);
  if (resident_bytes(process.stat) > kLargestWalkBytes) return;
  const auto text = files_.read(proc_path(process.pid, "smaps_rollup"));
  if (!text) {
    if (text.error().error_number() != ENOENT && text.error().error_number() != ESRCH) {
      out.missing("process.pss_bytes", "process " + pid + " is left out: " + text.error().message());
    }
    return;
  }
  if (const auto kib = value_of(*text, "Pss:")) {
    out.gauge("process.pss_bytes", pid, "bytes", static_cast<double>(*kib) * 1024);
  }
}

void ProcessSampler::sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) {
  read_processes(tree, out);
  if (!measured_) return;
  assign_roles(tree, alive_);
  report_tree(out);
  report_workers(out);
  const bool second_round = round_++ % 2 == 0;
  sweep_.sample(tree, alive_, now_ns, second_round, out);
  if (now_ns < sizes_due_ns_) return;
  sizes_due_ns_ = now_ns + kSizesPeriodNs;
  report_sizes(out);
}

}  // namespace fullbore::observe
