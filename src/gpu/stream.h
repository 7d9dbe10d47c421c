// A queue of work on a device that runs beside the others; one that never waits for the legacy default stream.
#pragma once

#include <memory>
#include <utility>

#include "gpu/device.h"

namespace fullbore::gpu {

// Owns the stream; keeps the device open.
class Stream {
 public:
  static base::Expected<Stream> create(std::shared_ptr<const Device> device);
  Stream(Stream&& other) noexcept : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  StreamHandle handle() const { return handle_; }

 private:
  Stream(std::shared_ptr<const Device> device, StreamHandle handle) : device_(std::move(device)), handle_(handle) {}

  std::shared_ptr<const Device> device_;
  StreamHandle handle_;
};

}  // namespace fullbore::gpu
