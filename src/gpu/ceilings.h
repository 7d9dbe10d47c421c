// What the link between host memory and a GPU can do on this machine: what a copy in a training step is judged against,
// since links differ by more than ten times between machines.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/cuda_driver.h"

namespace fullbore::gpu {

class Device;

// GB/s (10^9 bytes) of single copies in one direction at a time, the best of a few sizes.
struct Ceilings {
  double pinned_h2d_gb_per_s = 0;
  double pageable_h2d_gb_per_s = 0;
  double pinned_d2h_gb_per_s = 0;
};

struct DeviceCeilings {
  std::string pci_bus_id;  // "0000:18:00.0", lower case
  std::string name;
  Ceilings rates;
};

// The largest copy that is tried: a large batch, beyond which nothing more is gained.
inline constexpr std::size_t kMostCopyBytes = std::size_t{64} << 20;

// Takes `most_bytes` of device memory, as many page-locked and as many other bytes of the host.
base::Expected<Ceilings> measure_ceilings(const std::shared_ptr<const Device>& device,
                                          std::size_t most_bytes = kMostCopyBytes);

// Of each device that this process sees, one after the other.
base::Expected<std::vector<DeviceCeilings>> measure_all_ceilings(const CudaApi& api,
                                                                 std::size_t most_bytes = kMostCopyBytes);

}  // namespace fullbore::gpu
