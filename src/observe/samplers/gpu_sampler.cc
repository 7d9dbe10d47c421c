#include "observe/samplers/gpu_sampler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

constexpr std::string_view kDriver = "/proc/driver/nvidia/version";

// By gpu::ThrottleReason.
constexpr std::array<const char*, gpu::kThrottleReasons> kThrottled = {
    "gpu.throttled_power_cap_s", "gpu.throttled_sync_boost_s", "gpu.throttled_software_thermal_s",
    "gpu.throttled_hardware_thermal_s", "gpu.throttled_power_brake_s"};

// Value of CUDA_VISIBLE_DEVICES in /proc/PID/environ, nullopt if it is not set there.
std::optional<std::string> visible_in(const std::string& environment) {
  constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES=";
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = std::string_view(environment).substr(at, end - at);
    if (entry.starts_with(kName)) return std::string(entry.substr(kName.size()));
    at = end + 1;
  }
  return std::nullopt;
}

// Index of the device that one entry means, nullopt for an unknown one.
std::optional<std::size_t> device_of(const std::vector<gpu::GpuInfo>& devices, std::string_view entry) {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (failed == std::errc() && end == entry.data() + entry.size()) {
    return number < devices.size() ? std::optional(number) : std::nullopt;
  }
  if (!entry.starts_with("GPU-")) return std::nullopt;
  const auto it = std::ranges::find_if(devices, [&](const gpu::GpuInfo& info) { return info.uuid.starts_with(entry); });
  return it == devices.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - devices.begin()));
}

// Of the bridge that the GPU hangs on; nothing where the firmware does not say (-1, as in most virtual machines).
std::optional<int> numa_node(const base::FileReader& files, const std::string& pci_bus_id) {
  const auto text = files.read("/sys/bus/pci/devices/" + pci_bus_id + "/numa_node");
  const auto node = text ? number<int>(trimmed(*text)) : std::nullopt;
  return node && *node >= 0 ? node : std::nullopt;
}

}  // namespace

std::vector<std::size_t> visible_devices(const std::vector<gpu::GpuInfo>& devices, const std::string* visible) {
  std::vector<std::size_t> found;
  if (visible == nullptr) {
    for (std::size_t i = 0; i < devices.size(); ++i) found.push_back(i);
    return found;
  }
  for (std::size_t at = 0; at < visible->size();) {
    const std::size_t end = std::min(visible->find(',', at), visible->size());
    const auto device = device_of(devices, std::string_view(*visible).substr(at, end - at));
    if (!device) break;
    found.push_back(*device);
    at = end + 1;
  }
  return found;
}

void GpuSampler::start(const ProcessTree& tree, Readings& out) {
  started_ = true;
  if (!files_.read(kDriver)) return;  // no GPU: nothing is missing
  auto nvml = open_();
  if (!nvml) return out.missing("gpu", nvml.error().message());
  nvml_ = std::move(*nvml);
  const auto environment = files_.read("/proc/" + std::to_string(tree.root_pid) + "/environ");
  const auto visible = environment ? visible_in(*environment) : std::nullopt;
  watched_ = visible_devices(nvml_->devices(), visible ? &*visible : nullptr);
  for (const std::size_t index : watched_) {
    const gpu::GpuInfo& info = nvml_->devices()[index];
    if (info.max_link_generation) {
      out.gauge("gpu.max_link_generation", info.pci_bus_id, "generation", *info.max_link_generation);
    }
    if (info.max_link_width) out.gauge("gpu.max_link_width", info.pci_bus_id, "lanes", *info.max_link_width);
    if (info.max_sm_clock_mhz) out.gauge("gpu.max_sm_clock_mhz", info.pci_bus_id, "MHz", *info.max_sm_clock_mhz);
    if (const auto node = numa_node(files_, info.pci_bus_id))
      out.gauge("gpu.numa_node", info.pci_bus_id, "node", *node);
    if (info.mig) out.gauge("gpu.mig", info.pci_bus_id, "bool", *info.mig ? 1 : 0);
  }
}

void GpuSampler::report(const gpu::GpuSample& sample, const std::string& label, const ProcessTree& tree,
                        Readings& out) {
  const auto gauge = [&](const char* metric, const char* unit, const auto& value) {
    if (value) out.gauge(metric, label, unit, static_cast<double>(*value));
  };
  gauge("gpu.busy", "share", sample.busy);
  gauge("gpu.memory_busy", "share", sample.memory_busy);
  gauge("gpu.memory_used_bytes", "bytes", sample.memory_used_bytes);
  gauge("gpu.memory_total_bytes", "bytes", sample.memory_total_bytes);
  gauge("gpu.power_w", "W", sample.power_w);
  gauge("gpu.power_limit_w", "W", sample.power_limit_w);
  gauge("gpu.sm_clock_mhz", "MHz", sample.sm_clock_mhz);
  gauge("gpu.link_generation", "generation", sample.link_generation);
  gauge("gpu.link_width", "lanes", sample.link_width);
  gauge("gpu.clock_reasons", "bits", sample.clock_reasons);
  gauge("gpu.sm_active", "share", sample.sm_active);
  gauge("gpu.sm_occupancy", "share", sample.sm_occupancy);
  gauge("gpu.tensor_active", "share", sample.tensor_active);
  gauge("gpu.dram_busy", "share", sample.dram_busy);
  gauge("gpu.pcie_rx_bytes_per_s", "bytes/s", sample.pcie_rx_bytes_per_s);
  gauge("gpu.pcie_tx_bytes_per_s", "bytes/s", sample.pcie_tx_bytes_per_s);
  if (sample.replays) out.counter("gpu.link_replays", label, "replays", static_cast<double>(*sample.replays));
  if (!sample.compute_pids) return;
  const auto is_other = [&](std::uint32_t pid) { return std::ranges::find(tree.pids, pid) == tree.pids.end(); };
  const auto others = std::ranges::count_if(*sample.compute_pids, is_other);
  out.gauge("gpu.other_processes", label, "processes", static_cast<double>(others));
}

// Where the driver does not count, a reason that it gives now is taken to have held since the last sample.
void GpuSampler::report_throttling(const gpu::GpuSample& sample, const std::string& label, std::int64_t now_ns,
                                   Throttling& known, Readings& out) {
  const double since_last_s = known.last_ns == 0 ? 0 : static_cast<double>(now_ns - known.last_ns) / 1e9;
  known.last_ns = now_ns;
  for (std::size_t reason = 0; reason < gpu::kThrottleReasons; ++reason) {
    if (sample.clock_reasons && (*sample.clock_reasons & gpu::kThrottleBits[reason]) != 0)
      known.s[reason] += since_last_s;
    if (!sample.throttled_s[reason] && !sample.clock_reasons) continue;
    out.counter(kThrottled[reason], label, "s", sample.throttled_s[reason].value_or(known.s[reason]));
  }
}

void GpuSampler::sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) {
  if (!started_) start(tree, out);
  if (nvml_ == nullptr) return;
  std::erase_if(watched_, [&](std::size_t index) {
    const std::string& label = nvml_->devices()[index].pci_bus_id;
    const gpu::GpuSample sample = nvml_->sample(index);
    if (!sample.lost.empty()) {
      out.missing("gpu", "GPU " + label + " answers no more: " + sample.lost);
      return true;
    }
    report(sample, label, tree, out);
    report_throttling(sample, label, now_ns, throttling_[index], out);
    if (!sample.busy) out.missing("gpu.busy", "the driver does not tell it for GPU " + label + " (MIG, or a vGPU)");
    return false;
  });
}

}  // namespace fullbore::observe
