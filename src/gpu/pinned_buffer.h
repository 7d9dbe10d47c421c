// Page-locked host memory: the only kind that the device copies from by itself while the host goes on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "gpu/device.h"

namespace fullbore::gpu {

// Owns the memory; keeps the device open. The owner makes sure that no copy still reads it when it goes: freeing
// page-locked memory waits for the whole device. Reserving costs about 0.55 s per GiB, so it is done once, at the
// start.
class PinnedBuffer {
 public:
  static base::Expected<PinnedBuffer> allocate(std::shared_ptr<const Device> device, std::size_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : device_(std::move(other.device_)), bytes_(std::exchange(other.bytes_, {})) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  PinnedBuffer(std::shared_ptr<const Device> device, std::span<std::byte> bytes)
      : device_(std::move(device)), bytes_(bytes) {}

  std::shared_ptr<const Device> device_;
  std::span<std::byte> bytes_;
};

// True if the device can copy from this address by itself.
bool is_pinned(const Device& device, const void* address);

// Queues a copy from the host. From page-locked memory it never blocks, and reads the source when the stream gets
// there.
base::Expected<void> copy_to_device(const Device& device, DeviceAddress destination, const void* source,
                                    std::size_t bytes, StreamHandle stream);

}  // namespace fullbore::gpu
