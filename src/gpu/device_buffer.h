// Memory of a device.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "gpu/device.h"

namespace fullbore::gpu {

// Owns the memory; keeps the device open. Taking and giving it back wait for the whole device.
class DeviceBuffer {
 public:
  static base::Expected<DeviceBuffer> allocate(std::shared_ptr<const Device> device, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(std::move(other.device_)), address_(std::exchange(other.address_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  DeviceAddress address() const { return address_; }

 private:
  DeviceBuffer(std::shared_ptr<const Device> device, DeviceAddress address)
      : device_(std::move(device)), address_(address) {}

  std::shared_ptr<const Device> device_;
  DeviceAddress address_;
};

}  // namespace fullbore::gpu
