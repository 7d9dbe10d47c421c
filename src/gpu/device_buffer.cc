#include "gpu/device_buffer.h"

#include "gpu/cuda_api.h"

namespace fullbore::gpu {

base::Expected<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<const Device> device, std::size_t bytes) {
  const CudaApi& api = device->api();
  CUdeviceptr address = 0;
  const ContextScope scope(*device);
  const CUresult result = api.device_alloc(&address, bytes);
  if (result != CUDA_SUCCESS) {
    return std::unexpected(cuda_error(api, result, "take " + std::to_string(bytes >> 20) + " MiB of device memory"));
  }
  return DeviceBuffer(std::move(device), address);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ == 0 || device_->forked()) return;
  const ContextScope scope(*device_);
  device_->api().device_free(address_);
}

}  // namespace fullbore::gpu
