#include "gpu/nvml.h"

#include <nvml.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/dynamic_library.h"

namespace fullbore::gpu {
namespace {

using base::Expected;

// Null: optional and not in this driver.
struct NvmlApi {
  decltype(&nvmlInit_v2) init;
  decltype(&nvmlShutdown) shutdown;
  decltype(&nvmlErrorString) error_string;
  decltype(&nvmlDeviceGetCount_v2) device_count;
  decltype(&nvmlDeviceGetHandleByIndex_v2) device_by_index;
  decltype(&nvmlDeviceGetPciInfo_v3) pci_info;
  decltype(&nvmlDeviceGetUtilizationRates) utilization;
  decltype(&nvmlDeviceGetMemoryInfo) memory_info;
  // optional
  decltype(&nvmlDeviceGetUUID) uuid;
  decltype(&nvmlDeviceGetName) name;
  decltype(&nvmlDeviceGetPowerUsage) power_usage;
  decltype(&nvmlDeviceGetEnforcedPowerLimit) power_limit;
  decltype(&nvmlDeviceGetClockInfo) clock;
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock;
  decltype(&nvmlDeviceGetFieldValues) field_values;
  decltype(&nvmlDeviceGetCurrPcieLinkGeneration) link_generation;
  decltype(&nvmlDeviceGetMaxPcieLinkGeneration) max_link_generation;
  decltype(&nvmlDeviceGetCurrPcieLinkWidth) link_width;
  decltype(&nvmlDeviceGetMaxPcieLinkWidth) max_link_width;
  decltype(&nvmlDeviceGetPcieReplayCounter) replay_counter;
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) clock_reasons;
  decltype(&nvmlDeviceGetComputeRunningProcesses_v3) compute_processes;
  decltype(&nvmlDeviceGetMigMode) mig_mode;
  decltype(&nvmlGpmQueryDeviceSupport) gpm_support;
  decltype(&nvmlGpmSampleAlloc) gpm_alloc;
  decltype(&nvmlGpmSampleFree) gpm_free;
  decltype(&nvmlGpmSampleGet) gpm_sample;
  decltype(&nvmlGpmMetricsGet) gpm_metrics;
};

Expected<NvmlApi> fill(const base::DynamicLibrary& library) {
  NvmlApi api{};
  Expected<void> found;
  const auto need = [&](auto*& function, const char* symbol) {
    if (found) found = library.require(function, symbol);
  };
  need(api.init, "nvmlInit_v2");
  need(api.shutdown, "nvmlShutdown");
  need(api.error_string, "nvmlErrorString");
  need(api.device_count, "nvmlDeviceGetCount_v2");
  need(api.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  need(api.pci_info, "nvmlDeviceGetPciInfo_v3");
  need(api.utilization, "nvmlDeviceGetUtilizationRates");
  need(api.memory_info, "nvmlDeviceGetMemoryInfo");
  if (!found) return std::unexpected(found.error());
  library.optional(api.uuid, "nvmlDeviceGetUUID");
  library.optional(api.name, "nvmlDeviceGetName");
  library.optional(api.power_usage, "nvmlDeviceGetPowerUsage");
  library.optional(api.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.optional(api.clock, "nvmlDeviceGetClockInfo");
  library.optional(api.max_clock, "nvmlDeviceGetMaxClockInfo");
  library.optional(api.field_values, "nvmlDeviceGetFieldValues");
  library.optional(api.link_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  library.optional(api.max_link_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  library.optional(api.link_width, "nvmlDeviceGetCurrPcieLinkWidth");
  library.optional(api.max_link_width, "nvmlDeviceGetMaxPcieLinkWidth");
  library.optional(api.replay_counter, "nvmlDeviceGetPcieReplayCounter");
  library.optional(api.clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  // its name before CUDA 12.2
  if (api.clock_reasons == nullptr) library.optional(api.clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  library.optional(api.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  library.optional(api.mig_mode, "nvmlDeviceGetMigMode");
  library.optional(api.gpm_support, "nvmlGpmQueryDeviceSupport");
  library.optional(api.gpm_alloc, "nvmlGpmSampleAlloc");
  library.optional(api.gpm_free, "nvmlGpmSampleFree");
  library.optional(api.gpm_sample, "nvmlGpmSampleGet");
  library.optional(api.gpm_metrics, "nvmlGpmMetricsGet");
  return api;
}

// The value that `get(device, &value)` gives, nullopt where it is not to be had.
template <typename Value, typename Function>
std::optional<Value> ask(Function get, nvmlDevice_t device) {
  Value value{};
  if (get == nullptr || get(device, &value) != NVML_SUCCESS) return std::nullopt;
  return value;
}

template <typename Function>
std::optional<unsigned> sm_clock(Function get, nvmlDevice_t device) {
  unsigned mhz = 0;
  if (get == nullptr || get(device, NVML_CLOCK_SM, &mhz) != NVML_SUCCESS) return std::nullopt;
  return mhz;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // NVML writes the domain with eight digits, CUDA and the kernel with four.
  if (text.size() == 16 && text.starts_with("0000")) text.erase(0, 4);
  return text;
}

// A counter of the driver since the first reading. Some are 32 bits wide and wrap; one of 64 bits that falls has been
// reset.
class Counter {
 public:
  std::uint64_t add(std::uint64_t value, bool narrow) {
    if (last_) total_ += narrow ? static_cast<std::uint32_t>(value - *last_) : value < *last_ ? 0 : value - *last_;
    last_ = value;
    return total_;
  }

 private:
  std::optional<std::uint64_t> last_;
  std::uint64_t total_ = 0;
};

// Fields of nvmlDeviceGetFieldValues, in the order of ThrottleReason: nanoseconds.
constexpr std::array<unsigned, kThrottleReasons> kThrottleFields = {
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN};
static_assert(kThrottleBits == std::array<std::uint64_t, kThrottleReasons>{
                                   nvmlClocksEventReasonSwPowerCap, nvmlClocksEventReasonSyncBoost,
                                   nvmlClocksEventReasonSwThermalSlowdown, nvmlClocksThrottleReasonHwThermalSlowdown,
                                   nvmlClocksThrottleReasonHwPowerBrakeSlowdown});

// nullopt: this driver or GPU has no such field.
std::optional<std::uint64_t> value_of(const nvmlFieldValue_t& field) {
  if (field.nvmlReturn != NVML_SUCCESS) return std::nullopt;
  if (field.valueType == NVML_VALUE_TYPE_UNSIGNED_INT) return field.value.uiVal;
  if (field.valueType == NVML_VALUE_TYPE_UNSIGNED_LONG) return field.value.ulVal;
  if (field.valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG) return field.value.ullVal;
  return std::nullopt;
}

struct Device {
  nvmlDevice_t handle = nullptr;
  bool gpm = false;
  nvmlGpmSample_t before = nullptr;
  nvmlGpmSample_t now = nullptr;
  bool has_before = false;
  Counter replays;
  std::array<Counter, kThrottleReasons> throttled_ns;
};

class RealNvml final : public Nvml {
 public:
  RealNvml(base::DynamicLibrary library, const NvmlApi& api) : library_(std::move(library)), api_(api) {}
  ~RealNvml() override {
    for (Device& device : handles_) {
      if (device.before != nullptr) api_.gpm_free(device.before);
      if (device.now != nullptr) api_.gpm_free(device.now);
    }
    if (started_) api_.shutdown();
  }

  Expected<void> start() {
    if (const nvmlReturn_t result = api_.init(); result != NVML_SUCCESS) {
      return base::fail(library_.name() + " does not start: " + api_.error_string(result));
    }
    started_ = true;
    unsigned count = 0;
    if (const nvmlReturn_t result = api_.device_count(&count); result != NVML_SUCCESS) {
      return base::fail(std::string("cannot count the GPUs: ") + api_.error_string(result));
    }
    for (unsigned i = 0; i < count; ++i) add(i);
    return {};
  }

  const std::vector<GpuInfo>& devices() const override { return devices_; }
  GpuSample sample(std::size_t device) override;

 private:
  void add(unsigned index);
  void start_gpm(Device& device);
  void add_gpm(Device& device, GpuSample& sample);
  void add_counters(Device& device, GpuSample& sample);
  std::optional<std::vector<std::uint32_t>> pids_of(nvmlDevice_t device);

  base::DynamicLibrary library_;
  NvmlApi api_;
  bool started_ = false;
  std::vector<GpuInfo> devices_;
  std::vector<Device> handles_;
};

// A GPU that this process may not see (a container's device cgroup) is left out.
void RealNvml::add(unsigned index) {
  Device device;
  nvmlPciInfo_t pci{};
  if (api_.device_by_index(index, &device.handle) != NVML_SUCCESS) return;
  if (api_.pci_info(device.handle, &pci) != NVML_SUCCESS) return;
  GpuInfo info;
  info.pci_bus_id = lower(pci.busId);
  char text[96] = "";
  if (api_.uuid != nullptr && api_.uuid(device.handle, text, sizeof text) == NVML_SUCCESS) info.uuid = text;
  if (api_.name != nullptr && api_.name(device.handle, text, sizeof text) == NVML_SUCCESS) info.name = text;
  info.max_link_generation = ask<unsigned>(api_.max_link_generation, device.handle);
  info.max_link_width = ask<unsigned>(api_.max_link_width, device.handle);
  info.max_sm_clock_mhz = sm_clock(api_.max_clock, device.handle);
  unsigned mig = 0;
  unsigned pending = 0;
  if (api_.mig_mode != nullptr && api_.mig_mode(device.handle, &mig, &pending) == NVML_SUCCESS) info.mig = mig != 0;
  start_gpm(device);
  devices_.push_back(std::move(info));
  handles_.push_back(device);
}

void RealNvml::start_gpm(Device& device) {
  if (api_.gpm_support == nullptr || api_.gpm_alloc == nullptr || api_.gpm_free == nullptr ||
      api_.gpm_sample == nullptr || api_.gpm_metrics == nullptr)
    return;
  nvmlGpmSupport_t support{};
  support.version = NVML_GPM_SUPPORT_VERSION;
  if (api_.gpm_support(device.handle, &support) != NVML_SUCCESS || support.isSupportedDevice == 0) return;
  device.gpm = api_.gpm_alloc(&device.before) == NVML_SUCCESS && api_.gpm_alloc(&device.now) == NVML_SUCCESS;
}

void RealNvml::add_gpm(Device& device, GpuSample& sample) {
  if (!device.gpm) return;
  if (api_.gpm_sample(device.handle, device.now) != NVML_SUCCESS) {
    device.has_before = false;
    return;
  }
  constexpr double kMiB = 1024.0 * 1024.0;
  const struct {
    unsigned id;
    std::optional<double>& value;
    double scale;
  } wanted[] = {
      {NVML_GPM_METRIC_SM_UTIL, sample.sm_active, 0.01},
      {NVML_GPM_METRIC_SM_OCCUPANCY, sample.sm_occupancy, 0.01},
      {NVML_GPM_METRIC_ANY_TENSOR_UTIL, sample.tensor_active, 0.01},
      {NVML_GPM_METRIC_DRAM_BW_UTIL, sample.dram_busy, 0.01},
      {NVML_GPM_METRIC_PCIE_RX_PER_SEC, sample.pcie_rx_bytes_per_s, kMiB},
      {NVML_GPM_METRIC_PCIE_TX_PER_SEC, sample.pcie_tx_bytes_per_s, kMiB},
  };
  if (device.has_before) {
    nvmlGpmMetricsGet_t request{};
    request.version = NVML_GPM_METRICS_GET_VERSION;
    request.sample1 = device.before;
    request.sample2 = device.now;
    for (const auto& metric : wanted) request.metrics[request.numMetrics++].metricId = metric.id;
    if (api_.gpm_metrics(&request) == NVML_SUCCESS) {
      for (unsigned i = 0; i < request.numMetrics; ++i) {
        const nvmlGpmMetric_t& metric = request.metrics[i];
        if (metric.nvmlReturn == NVML_SUCCESS) wanted[i].value = metric.value * wanted[i].scale;
      }
    }
  }
  std::swap(device.before, device.now);
  device.has_before = true;
}

void RealNvml::add_counters(Device& device, GpuSample& sample) {
  std::array<nvmlFieldValue_t, kThrottleReasons + 1> fields{};
  for (std::size_t i = 0; i < kThrottleReasons; ++i) fields[i].fieldId = kThrottleFields[i];
  fields[kThrottleReasons].fieldId = NVML_FI_DEV_PCIE_REPLAY_COUNTER;
  const bool asked = api_.field_values != nullptr &&
                     api_.field_values(device.handle, static_cast<int>(fields.size()), fields.data()) == NVML_SUCCESS;
  for (std::size_t i = 0; asked && i < kThrottleReasons; ++i) {
    const bool narrow = fields[i].valueType == NVML_VALUE_TYPE_UNSIGNED_INT;
    if (const auto ns = value_of(fields[i]))
      sample.throttled_s[i] = static_cast<double>(device.throttled_ns[i].add(*ns, narrow)) / 1e9;
  }
  auto replays = asked ? value_of(fields[kThrottleReasons]) : std::nullopt;
  if (!replays) replays = ask<unsigned>(api_.replay_counter, device.handle);
  if (replays) sample.replays = device.replays.add(*replays, true);
}

std::optional<std::vector<std::uint32_t>> RealNvml::pids_of(nvmlDevice_t device) {
  nvmlProcessInfo_t processes[64];
  unsigned count = std::size(processes);
  if (api_.compute_processes == nullptr || api_.compute_processes(device, &count, processes) != NVML_SUCCESS) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> pids;
  for (unsigned i = 0; i < count; ++i) pids.push_back(processes[i].pid);
  return pids;
}

GpuSample RealNvml::sample(std::size_t index) {
  Device& device = handles_.at(index);
  GpuSample sample;
  nvmlMemory_t memory{};
  const nvmlReturn_t alive = api_.memory_info(device.handle, &memory);
  if (alive == NVML_ERROR_GPU_IS_LOST || alive == NVML_ERROR_RESET_REQUIRED || alive == NVML_ERROR_DRIVER_NOT_LOADED ||
      alive == NVML_ERROR_UNINITIALIZED) {
    sample.lost = api_.error_string(alive);
    return sample;
  }
  if (alive == NVML_SUCCESS) {
    sample.memory_used_bytes = static_cast<double>(memory.used);
    sample.memory_total_bytes = static_cast<double>(memory.total);
  }
  if (const auto rates = ask<nvmlUtilization_t>(api_.utilization, device.handle)) {
    sample.busy = rates->gpu / 100.0;
    sample.memory_busy = rates->memory / 100.0;
  }
  if (const auto milliwatts = ask<unsigned>(api_.power_usage, device.handle)) sample.power_w = *milliwatts / 1e3;
  if (const auto milliwatts = ask<unsigned>(api_.power_limit, device.handle)) sample.power_limit_w = *milliwatts / 1e3;
  sample.sm_clock_mhz = sm_clock(api_.clock, device.handle);
  sample.link_generation = ask<unsigned>(api_.link_generation, device.handle);
  sample.link_width = ask<unsigned>(api_.link_width, device.handle);
  add_counters(device, sample);
  sample.clock_reasons = ask<unsigned long long>(api_.clock_reasons, device.handle);
  sample.compute_pids = pids_of(device.handle);
  add_gpm(device, sample);
  return sample;
}

}  // namespace

Expected<std::unique_ptr<Nvml>> Nvml::open(const std::vector<std::string>& libraries) {
  auto library = base::DynamicLibrary::open(libraries);
  if (!library) return std::unexpected(library.error());
  const auto api = fill(*library);
  if (!api) return std::unexpected(api.error());
  auto nvml = std::make_unique<RealNvml>(std::move(*library), *api);
  if (auto started = nvml->start(); !started) return std::unexpected(started.error());
  return nvml;
}

}  // namespace fullbore::gpu
