// Reads the samplers' series (docs/design/002-metrics.md) over the judged window; see resources.h.
#include "diagnose/resources.h"

#include <algorithm>
#include <set>

namespace fullbore::diagnose {
namespace {

using Optional = std::optional<double>;

// Values are recorded when they change, so the value at a time is the last one written before.
Optional value_at(const record::Series& series, std::int64_t time_ns) {
  const auto after = std::ranges::upper_bound(series.time_ns, time_ns);
  if (after == series.time_ns.begin()) return std::nullopt;
  return series.value[static_cast<std::size_t>(after - series.time_ns.begin()) - 1];
}

// The counter between its readings: changes are spread over the time since the reading before.
Optional interpolated(const record::Series& series, std::int64_t time_ns) {
  const auto after = std::ranges::upper_bound(series.time_ns, time_ns);
  if (after == series.time_ns.begin()) return std::nullopt;
  const auto i = static_cast<std::size_t>(after - series.time_ns.begin());
  if (i == series.time_ns.size()) return series.value.back();
  const double span = static_cast<double>(series.time_ns[i] - series.time_ns[i - 1]);
  const double part = static_cast<double>(time_ns - series.time_ns[i - 1]) / span;
  return series.value[i - 1] + part * (series.value[i] - series.value[i - 1]);
}

bool usable(const record::Series* series) {
  return series != nullptr && !series->time_ns.empty() && series->time_ns.size() == series->value.size();
}

struct Window {
  const record::Run& run;
  std::int64_t begin_ns, end_ns;

  Optional mean(std::string_view metric, std::string_view label = "") const {
    return mean_in(run.find(metric, label), begin_ns, end_ns);
  }
  Optional rate(std::string_view metric, std::string_view label = "") const {
    return rate_in(run.find(metric, label), begin_ns, end_ns);
  }
  Optional sum_of_rates(std::string_view metric, std::string_view label_begin) const {
    return diagnose::sum_of_rates(run, metric, label_begin, begin_ns, end_ns);
  }
};

// Label of the series of that metric whose value is largest.
std::string main_label(const record::Run& run, std::string_view metric) {
  std::string label;
  double most = 0;
  for (const record::Series& series : run.series) {
    if (series.metric != metric || series.value.empty() || series.value.back() <= most) continue;
    most = series.value.back();
    label = series.label;
  }
  return label;
}

std::int64_t last_reading_ns(const record::Run& run) {
  std::int64_t last = run.info.start_ns;
  for (const record::Series& series : run.series) {
    if (!series.time_ns.empty()) last = std::max(last, series.time_ns.back());
  }
  return last;
}

// The busiest of the threads that pin batches; a loader in use has one.
Optional busiest_pin_thread(const Window& window) {
  Optional most;
  for (const record::Series& series : window.run.series) {
    if (series.metric != "thread.cpu_s" || !series.label.starts_with("pin/")) continue;
    const Optional cpu = window.rate("thread.cpu_s", series.label);
    if (cpu) most = std::max(most.value_or(0), *cpu + window.rate("thread.runq_s", series.label).value_or(0));
  }
  return most;
}

// Sampled more often than all threads together.
Optional wanting_main_threads(const Window& window) {
  Optional sum;
  for (const char* metric : {"thread.cpu_s", "thread.runq_s"}) {
    for (const char* role : {"worker/", "trainer/"}) {
      if (const Optional rates = window.sum_of_rates(metric, role)) sum = sum.value_or(0) + *rates;
    }
  }
  return sum;
}

void measure_cores(const Window& window, Resources& out) {
  out.machine_cores = window.mean("cpu.online_cores");
  out.affinity_cores = window.mean("cpu.affinity_cores");
  out.quota_cores = window.mean("cgroup.cpu_quota_cores");
  out.usable_cores = window.mean("cpu.usable_cores");
  if (!out.usable_cores) out.usable_cores = out.affinity_cores;
  out.tree_cores = window.rate("tree.cpu_s");
  out.runq_cores = window.rate("tree.runq_s");
  out.pin_busy = busiest_pin_thread(window);
  out.worker_cores = window.rate("workers.cpu_s");
  out.worker_kernel_cores = window.rate("workers.cpu_system_s");
  out.worker_faults_per_s = window.rate("workers.minor_faults");
  out.worker_threads = window.mean("workers.threads");
  const Optional helping = window.rate("workers.helper_cpu_s"), queued = window.rate("workers.helper_runq_s");
  out.helper_cores = helping;
  out.main_threads = wanting_main_threads(window);
  if (helping && queued) out.helper_threads = *helping + *queued;
  const Optional busy = window.rate("cpu.usable_busy_s");
  if (busy && out.tree_cores) out.neighbour_cores = std::max(0.0, *busy - *out.tree_cores);
  const Optional machine_busy = window.rate("cpu.busy_s", "total");
  if (machine_busy && out.machine_cores) out.machine_free_cores = std::max(0.0, *out.machine_cores - *machine_busy);
  if (out.usable_cores && out.tree_cores) {
    // Neighbours on the cores that we may use need not be in our way when a quota, not the cores, is our limit.
    const double cores = std::min(out.affinity_cores.value_or(*out.usable_cores), 1e9);
    const double left = std::max(0.0, cores - *out.tree_cores - out.neighbour_cores.value_or(0));
    out.free_cores = std::clamp(*out.usable_cores - *out.tree_cores, 0.0, left);
  }
  const Optional periods = window.rate("cgroup.cpu_periods"), throttled = window.rate("cgroup.cpu_throttled_periods");
  if (periods && throttled && *periods > 0) out.throttled_periods = std::min(1.0, *throttled / *periods);
  if (!out.usable_cores) return;
  std::set<std::pair<int, std::uint32_t>> trainers;
  for (const record::RankRecords& rank : window.run.ranks) {
    for (const auto& step : rank.steps) trainers.insert({rank.rank, step.pid});
  }
  out.rank_cores = *out.usable_cores / static_cast<double>(std::max<std::size_t>(1, trainers.size()));
}

// The device with the lowest read limit of the control group, "" if none has one.
std::string tightest_device(const record::Run& run) {
  std::string device;
  double lowest = 0;
  for (const record::Series& series : run.series) {
    if (series.metric != "cgroup.io_read_limit_bytes_per_s" || series.value.empty()) continue;
    if (!device.empty() && series.value.back() >= lowest) continue;
    lowest = series.value.back();
    device = series.label;
  }
  return device;
}

void measure_storage(const Window& window, Resources& out) {
  out.tree_read_bytes_per_s = window.rate("tree.read_bytes");
  out.tree_read_chars_per_s = window.rate("tree.read_chars");
  out.device = main_label(window.run, "mount.device");
  out.mount_type = main_label(window.run, "mount.type");
  // Where no data path was seen (a library that opens files by itself), a device with a limit is the one to look at.
  if (out.device.empty()) out.device = tightest_device(window.run);
  if (out.device.empty()) return;
  out.device_read_bytes_per_s = window.rate("disk.read_bytes", out.device);
  if (!out.device_read_bytes_per_s) out.device_read_bytes_per_s = out.tree_read_bytes_per_s;
  out.device_reads_per_s = window.rate("disk.reads", out.device);
  out.device_busy = window.rate("disk.busy_s", out.device);
  out.device_queue = window.rate("disk.queue_s", out.device);
  out.device_write_bytes_per_s = window.rate("disk.write_bytes", out.device);
  out.device_limit_bytes_per_s = window.mean("cgroup.io_read_limit_bytes_per_s", out.device);
  out.device_limit_reads_per_s = window.mean("cgroup.io_read_limit_iops", out.device);
  const Optional read_s = window.rate("disk.read_s", out.device);
  if (read_s && out.device_reads_per_s.value_or(0) > 0) out.device_read_ms = *read_s / *out.device_reads_per_s * 1e3;
}

Optional least_of(const record::Series* series) {
  return usable(series) ? Optional(*std::ranges::min_element(series->value)) : std::nullopt;
}

// What a run ends by is reached at its end, not in the part that is judged.
void measure_limits(const record::Run& run, Resources& out) {
  const record::Series* size = run.find("shm.size_bytes");
  if (usable(size)) out.shm_size = size->value.back();
  out.shm_free_least = least_of(run.find("shm.free_bytes"));
  for (const record::Series& series : run.series) {
    if (series.metric != "files.open" || !usable(&series)) continue;
    const double most = *std::ranges::max_element(series.value);
    if (most <= out.files_open_most.value_or(-1)) continue;
    out.files_open_most = most;
    const record::Series* limit = run.find("files.limit", series.label);
    out.files_limit = usable(limit) ? Optional(limit->value.back()) : std::nullopt;
  }
  const record::Series* limit = run.find("limit.open_files");
  if (!out.files_limit && usable(limit)) out.files_limit = limit->value.back();
}

Optional scaled(Optional value, double factor) {
  return value ? Optional(*value * factor) : std::nullopt;
}

void measure_memory(const Window& window, Resources& out) {
  out.memory_total = window.mean("memory.total_bytes");
  out.memory_available = window.mean("memory.available_bytes");
  out.memory_limit = window.mean("cgroup.memory_limit_bytes");
  out.memory_used = window.mean("cgroup.memory_bytes");
  out.memory_anon = window.mean("cgroup.memory_anon_bytes");
  // A limit above the machine's memory limits nothing.
  if (out.memory_limit && out.memory_total && *out.memory_limit >= *out.memory_total) out.memory_limit.reset();
  // MemAvailable counts the page cache that can be given up, which is the room that a data set has.
  out.cache_room = out.memory_available;
  if (out.memory_limit && out.memory_anon)
    out.cache_room = std::max(0.0, std::min(*out.memory_limit - *out.memory_anon, out.cache_room.value_or(1e18)));
  const Optional refaults = out.memory_limit ? window.rate("cgroup.refault_file") : window.rate("memory.refault_file");
  out.refault_bytes_per_s = scaled(refaults, kPageBytes);
  out.swap_in_bytes_per_s = window.rate("memory.swap_in_bytes");
  out.memory_pressure = window.rate("cgroup.pressure_some_s", "memory");
  if (!out.memory_pressure) out.memory_pressure = window.rate("pressure.some_s", "memory");
  out.major_faults_per_s = window.rate("tree.major_faults");
}

void list_system(const Window& window, Resources& out) {
  out.system = {
      {"cpu.machine_cores", out.machine_cores},
      {"cpu.affinity_cores", out.affinity_cores},
      {"cpu.quota_cores", out.quota_cores},
      {"cpu.usable_cores", out.usable_cores},
      {"cpu.tree_cores", out.tree_cores},
      {"cpu.neighbour_cores", out.neighbour_cores},
      {"cpu.free_cores", out.free_cores},
      {"cpu.runnable_without_core", out.runq_cores},
      {"cpu.throttled_share", out.throttled_periods},
      {"disk.read_mb_per_s", scaled(out.device_read_bytes_per_s, 1e-6)},
      {"disk.reads_per_s", out.device_reads_per_s},
      {"disk.read_ms", out.device_read_ms},
      {"disk.busy_share", out.device_busy},
      {"disk.queue_depth", out.device_queue},
      {"disk.read_limit_mb_per_s", scaled(out.device_limit_bytes_per_s, 1e-6)},
      {"tree.read_mb_per_s", scaled(out.tree_read_bytes_per_s, 1e-6)},
      {"tree.requested_mb_per_s", scaled(out.tree_read_chars_per_s, 1e-6)},
      {"tree.major_faults_per_s", out.major_faults_per_s},
      {"tree.rss_mib", scaled(window.mean("tree.rss_bytes"), 1.0 / 1048576)},
      {"memory.available_mib", scaled(out.memory_available, 1.0 / 1048576)},
      {"memory.limit_mib", scaled(window.mean("cgroup.memory_limit_bytes"), 1.0 / 1048576)},
      {"shm.free_mib", scaled(window.mean("shm.free_bytes"), 1.0 / 1048576)},
      {"shm.size_mib", scaled(window.mean("shm.size_bytes"), 1.0 / 1048576)},
      {"pressure.cpu_some_share", window.rate("pressure.some_s", "cpu")},
      {"pressure.io_some_share", window.rate("pressure.some_s", "io")},
      {"pressure.memory_some_share", window.rate("pressure.some_s", "memory")},
  };
}

}  // namespace

std::optional<double> mean_in(const record::Series* series, std::int64_t begin_ns, std::int64_t end_ns) {
  if (!usable(series)) return std::nullopt;
  double sum = 0;
  std::size_t count = 0;
  if (const auto first = value_at(*series, begin_ns)) sum = *first, count = 1;
  for (std::size_t i = 0; i < series->time_ns.size(); ++i) {
    if (series->time_ns[i] <= begin_ns || series->time_ns[i] > end_ns) continue;
    sum += series->value[i];
    ++count;
  }
  // A limit that was read once, after the window, still holds.
  if (count == 0) return series->value.front();
  return sum / static_cast<double>(count);
}

std::optional<double> rate_in(const record::Series* series, std::int64_t begin_ns, std::int64_t end_ns) {
  if (!usable(series)) return std::nullopt;
  const std::int64_t from = std::max(begin_ns, series->time_ns.front());
  if (end_ns - from < 200'000'000) return std::nullopt;
  const auto first = interpolated(*series, from), last = interpolated(*series, end_ns);
  if (!first || !last || *last < *first) return std::nullopt;
  return (*last - *first) / (static_cast<double>(end_ns - from) / 1e9);
}

std::optional<double> sum_of_rates(const record::Run& run, std::string_view metric, std::string_view label_begin,
                                   std::int64_t begin_ns, std::int64_t end_ns) {
  std::optional<double> sum;
  for (const record::Series& series : run.series) {
    if (series.metric != metric || !series.label.starts_with(label_begin)) continue;
    if (const auto rate = rate_in(&series, begin_ns, end_ns)) sum = sum.value_or(0) + *rate;
  }
  return sum;
}

double Resources::taken_by_others() const {
  const double usable = usable_cores.value_or(0);
  return usable > 0 ? neighbour_cores.value_or(0) / usable : 0;
}

Resources measure_resources(const record::Run& run, const Iterations& iterations) {
  Resources out;
  const bool judged = iterations.whole_end_ns > iterations.whole_begin_ns;
  const Window window{run, judged ? iterations.whole_begin_ns : run.info.start_ns,
                      judged ? iterations.whole_end_ns : run.info.end_ns.value_or(last_reading_ns(run))};
  measure_cores(window, out);
  measure_storage(window, out);
  measure_memory(window, out);
  measure_limits(run, out);
  list_system(window, out);
  return out;
}

}  // namespace fullbore::diagnose
