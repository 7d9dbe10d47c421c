#include "diagnose/gpu_facts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "diagnose/causes/device_counters.h"

namespace fullbore::diagnose {
namespace {

CopyFacts copy_facts(const CopiesFrom& from) {
  return {from.count, from.bytes, from.busy_ns / 1e6, from.gb_per_s()};
}

// As the account calls them.
constexpr std::array<const char*, kIdleKinds> kIdleIds = {
    "input_wait", "h2d_exposed", "host_sync", "launch", "device_gap",    "collective_wait",
    "checkpoint", "validation",  "logging",   "gc",     "torch_profiler"};

GpuFacts gpu_facts(const GpuEvidence& device) {
  GpuFacts gpu;
  gpu.windows = static_cast<std::int64_t>(device.windows);
  gpu.steps = static_cast<std::int64_t>(device.iterations);
  gpu.seen_ms = device.seen_ns / 1e6;
  gpu.busy = device.busy();
  gpu.kernels_per_step = device.per_iteration(static_cast<double>(device.kernels));
  for (std::size_t kind = 0; kind < kIdleKinds; ++kind) {
    if (device.idle_ns[kind] <= 0) continue;
    GpuIdle idle{kIdleIds[kind], device.share(device.idle_ns[kind]), {}};
    for (std::size_t size = 0; size < kGapSizes; ++size) {
      idle.gaps[size] = device.share(device.gap_ns[kind][size]);
      gpu.gaps[size] += idle.gaps[size];
    }
    gpu.idle.push_back(std::move(idle));
  }
  std::ranges::stable_sort(gpu.idle, std::ranges::greater{}, &GpuIdle::share);
  return gpu;
}

// Of the trainer's own device; where it is not known which that is, of the only one that the command saw.
const record::Series* device_series(const Situation& situation, const char* metric) {
  if (const auto* own = situation.run->find(metric, device_bus(situation))) return own;
  const auto has_metric = [&](const record::Series& series) { return series.metric == metric; };
  const auto& all = situation.run->series;
  return std::ranges::count_if(all, has_metric) == 1 ? &*std::ranges::find_if(all, has_metric) : nullptr;
}

// Means over the judged part of the run; nothing without a driver.
void describe_counters(const Situation& situation, Diagnosis& out) {
  static constexpr std::pair<const char*, double> kSeries[] = {{"gpu.sm_active", 1},
                                                               {"gpu.sm_occupancy", 1},
                                                               {"gpu.tensor_active", 1},
                                                               {"gpu.dram_busy", 1},
                                                               {"gpu.power_w", 1},
                                                               {"gpu.memory_used_bytes", 1.0 / (1 << 20)},
                                                               {"gpu.link_generation", 1},
                                                               {"gpu.link_width", 1},
                                                               {"gpu.other_processes", 1},
                                                               {"gpu.pcie_rx_bytes_per_s", 1e-9},
                                                               {"gpu.pcie_tx_bytes_per_s", 1e-9}};
  for (const auto& [metric, factor] : kSeries) {
    const record::Series* series = device_series(situation, metric);
    if (series == nullptr) continue;
    const auto mean = mean_in(series, situation.iterations.whole_begin_ns, situation.iterations.whole_end_ns);
    std::string name = metric;
    if (name.ends_with("_bytes_per_s")) name.replace(name.size() - 11, 11, "gb_per_s");
    if (name.ends_with("_bytes")) name.replace(name.size() - 5, 5, "mib");
    out.system.emplace_back(name, mean ? std::optional(*mean * factor) : std::nullopt);
  }
}

}  // namespace

void describe_device(const Situation& situation, Diagnosis& out) {
  describe_counters(situation, out);
  if (!situation.device) return;
  const GpuEvidence& device = *situation.device;
  out.gpu = gpu_facts(device);
  out.gpu->hidden_wait_ms = situation.hidden_wait_ms();
  out.copies = Copies{copy_facts(device.pageable), copy_facts(device.pinned),
                      device.per_iteration(device.copy_ns()) / 1e6, situation.device_part(&DeviceBody::copy)};
}

}  // namespace fullbore::diagnose
