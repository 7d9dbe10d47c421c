#include "gpu/pinned_buffer.h"

#include "gpu/cuda_api.h"

namespace fullbore::gpu {

using base::Expected;

Expected<PinnedBuffer> PinnedBuffer::allocate(std::shared_ptr<const Device> device, std::size_t bytes) {
  const CudaApi& api = device->api();
  void* memory = nullptr;
  const ContextScope scope(*device);
  const CUresult result = api.host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) {
    return std::unexpected(cuda_error(api, result, "lock " + std::to_string(bytes >> 20) + " MiB of host memory"));
  }
  return PinnedBuffer(std::move(device), {static_cast<std::byte*>(memory), bytes});
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (bytes_.data() == nullptr || device_->forked()) return;
  const ContextScope scope(*device_);
  device_->api().host_free(bytes_.data());
}

bool is_pinned(const Device& device, const void* address) {
  unsigned kind = 0;
  const CUresult result = device.api().pointer_get_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                             reinterpret_cast<CUdeviceptr>(address));
  return result == CUDA_SUCCESS && kind == CU_MEMORYTYPE_HOST;  // memory that CUDA does not know is an error
}

Expected<void> copy_to_device(const Device& device, DeviceAddress destination, const void* source, std::size_t bytes,
                              StreamHandle stream) {
  const CUresult result = device.api().copy_to_device_async(destination, source, bytes, stream);
  return check(device.api(), result, "copy to the device");
}

}  // namespace fullbore::gpu
