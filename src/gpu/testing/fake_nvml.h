// A libnvidia-ml without a GPU: a shared object that the real code opens, and what a test sets in it.
#pragma once

#include <cstdint>

namespace fullbore::gpu {

struct FakeNvml {
  int result = 0;       // nvmlReturn_t that every call on the device gives
  int init_result = 0;  // that nvmlInit_v2 gives
  unsigned replays = 0;
  bool fields = true;                   // counters that nvmlDeviceGetFieldValues knows
  unsigned long long power_cap_ns = 0;  // 64 bits wide
  unsigned brake_ns = 0;                // 32 bits wide
  unsigned long long clock_reasons = 0;
  unsigned busy_percent = 0;
  bool gpm = true;
  double gpm_value = 50;  // of every performance metric
};

// Exported by the shared object as fullbore_fake_nvml.
using GetFakeNvml = FakeNvml* (*)();

}  // namespace fullbore::gpu
