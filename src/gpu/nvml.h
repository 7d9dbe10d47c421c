// What the driver's management library says of each GPU, without a type of the vendor's. A value that could not be had
// is absent, never zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace fullbore::gpu {

// Why the driver holds the clocks down.
enum class ThrottleReason : std::uint8_t { kPowerCap, kSyncBoost, kSoftwareThermal, kHardwareThermal, kPowerBrake };
inline constexpr std::size_t kThrottleReasons = 5;
// The bit of a reason in GpuSample::clock_reasons.
inline constexpr std::array<std::uint64_t, kThrottleReasons> kThrottleBits = {0x04, 0x10, 0x20, 0x40, 0x80};

struct GpuInfo {
  std::string pci_bus_id;  // "0000:18:00.0", lower case
  std::string uuid;        // "GPU-f056ed22-..."
  std::string name;
  std::optional<unsigned> max_link_generation;  // of the GPU in this slot
  std::optional<unsigned> max_link_width;
  std::optional<bool> mig;
  std::optional<unsigned> max_sm_clock_mhz = {};
};

struct GpuSample {
  std::optional<double> busy;         // share of the driver's last period in which any kernel was resident
  std::optional<double> memory_busy;  // the same for reads and writes of device memory
  std::optional<double> memory_used_bytes;
  std::optional<double> memory_total_bytes;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;  // that is enforced now
  std::optional<unsigned> sm_clock_mhz;
  std::optional<unsigned> link_generation;  // now: falls when idle
  std::optional<unsigned> link_width;
  std::optional<std::uint64_t> replays;  // of the link, since the first sample; wraps of the 32-bit counter undone
  std::optional<std::uint64_t> clock_reasons;  // nvmlClocksEventReasons
  // By ThrottleReason: seconds since the first sample, as the driver counts them.
  std::array<std::optional<double>, kThrottleReasons> throttled_s;
  std::optional<std::vector<std::uint32_t>> compute_pids;
  // Means since the last sample, from the GPU's performance monitor (GPM, Hopper and newer).
  std::optional<double> sm_active;
  std::optional<double> sm_occupancy;
  std::optional<double> tensor_active;
  std::optional<double> dram_busy;
  std::optional<double> pcie_rx_bytes_per_s;  // to the GPU
  std::optional<double> pcie_tx_bytes_per_s;
  std::string lost;  // why this GPU answers no more; "" while it does
};

// Owned and used by one thread. The library stays open for as long as this lives.
class Nvml {
 public:
  virtual ~Nvml() = default;

  // The first of `libraries` that can be opened; fails with NVML's reason if it does not start.
  static base::Expected<std::unique_ptr<Nvml>> open(const std::vector<std::string>& libraries = {"libnvidia-ml.so.1"});

  // In the order of PCI bus ids.
  virtual const std::vector<GpuInfo>& devices() const = 0;
  // Takes 1-5 ms with GPM.
  virtual GpuSample sample(std::size_t device) = 0;
};

}  // namespace fullbore::gpu
