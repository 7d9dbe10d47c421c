#include "gpu/testing/fake_nvml.h"

#include <nvml.h>

#include <cstdio>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

fullbore::gpu::FakeNvml fake;
char device;

nvmlReturn_t result() {
  return static_cast<nvmlReturn_t>(fake.result);
}
template <typename T>
nvmlReturn_t give(T* out, T value) {
  if (result() == NVML_SUCCESS) *out = value;
  return result();
}

}  // namespace

FAKE_EXPORT fullbore::gpu::FakeNvml* fullbore_fake_nvml() {
  return &fake;
}
FAKE_EXPORT nvmlReturn_t nvmlInit_v2() {
  return static_cast<nvmlReturn_t>(fake.init_result);
}
FAKE_EXPORT nvmlReturn_t nvmlShutdown() {
  return NVML_SUCCESS;
}
FAKE_EXPORT const char* nvmlErrorString(nvmlReturn_t) {
  return "error of a test";
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_t* handle) {
  *handle = reinterpret_cast<nvmlDevice_t>(&device);
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t* pci) {
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:AF:00.0");
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char* text, unsigned length) {
  std::snprintf(text, length, "GPU-1234");
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* rates) {
  return give(rates, {fake.busy_percent, 7});
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* memory) {
  return give(memory, {1000, 600, 400});
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) {
  return give(milliwatts, 250'000u);
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  return give(milliwatts, 700'000u);
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t, unsigned* mhz) {
  return give(mhz, 1200u);
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t, nvmlClockType_t, unsigned* mhz) {
  return give(mhz, 1980u);
}
// By the name of drivers before CUDA 12.2.
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  return give(reasons, fake.clock_reasons);
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  for (int i = 0; i < count; ++i) {
    nvmlFieldValue_t& field = values[i];
    field.nvmlReturn = fake.fields ? result() : NVML_ERROR_NOT_SUPPORTED;
    if (field.fieldId == NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP) {
      field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
      field.value.ullVal = fake.power_cap_ns;
    } else if (field.fieldId == NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN) {
      field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
      field.value.uiVal = fake.brake_ns;
    } else {
      field.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return result();
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t, unsigned* value) {
  return give(value, fake.replays);
}
FAKE_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                                 nvmlProcessInfo_t* processes) {
  *count = 2;
  processes[0].pid = 41;
  processes[1].pid = 42;
  return result();
}
FAKE_EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t, nvmlGpmSupport_t* support) {
  support->isSupportedDevice = fake.gpm ? 1 : 0;
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  *sample = reinterpret_cast<nvmlGpmSample_t>(new char);
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  delete reinterpret_cast<char*>(sample);
  return NVML_SUCCESS;
}
FAKE_EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t, nvmlGpmSample_t) {
  return result();
}
FAKE_EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* request) {
  for (unsigned i = 0; i < request->numMetrics; ++i) {
    const bool known = request->metrics[i].metricId != NVML_GPM_METRIC_DRAM_BW_UTIL;
    request->metrics[i].nvmlReturn = known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    request->metrics[i].value = fake.gpm_value;
  }
  return NVML_SUCCESS;
}
