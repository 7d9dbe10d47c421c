// A function that runs on the device, from the PTX that the build embeds: text that the driver of any later version
// compiles for the GPU it finds, so no CUDA toolkit is needed here or there.
#pragma once

#include <memory>
#include <utility>

#include "gpu/device.h"

namespace fullbore::gpu {

// Owns the module that holds it; keeps the device open. The owner makes sure that no launch still runs when it goes.
class Kernel {
 public:
  // Compiles `ptx`, which ends with a zero: about 30 ms, or what the driver's cache takes. Fails with the driver's
  // reason.
  static base::Expected<Kernel> load(const std::shared_ptr<const Device>& device, const char* ptx, const char* name);
  Kernel(Kernel&& other) noexcept
      : device_(std::move(other.device_)),
        module_(std::exchange(other.module_, nullptr)),
        function_(std::exchange(other.function_, nullptr)) {}
  Kernel& operator=(Kernel&& other) noexcept;
  ~Kernel();

  // Queues `blocks` of `threads` each. `arguments` has the address of each one; they are read before this returns.
  base::Expected<void> launch(StreamHandle stream, unsigned blocks, unsigned threads, void** arguments) const;

 private:
  Kernel(std::shared_ptr<const Device> device, ModuleHandle module, FunctionHandle function)
      : device_(std::move(device)), module_(module), function_(function) {}

  std::shared_ptr<const Device> device_;
  ModuleHandle module_;
  FunctionHandle function_;
};

}  // namespace fullbore::gpu
