#include "gpu/stream.h"

#include "gpu/cuda_api.h"

namespace fullbore::gpu {

base::Expected<Stream> Stream::create(std::shared_ptr<const Device> device) {
  const CudaApi& api = device->api();
  CUstream handle = nullptr;
  const ContextScope scope(*device);
  const CUresult made = api.stream_create(&handle, CU_STREAM_NON_BLOCKING);
  if (auto ok = check(api, made, "make a stream"); !ok) return std::unexpected(ok.error());
  return Stream(std::move(device), handle);
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (handle_ != nullptr && !device_->forked()) device_->api().stream_destroy(handle_);
}

}  // namespace fullbore::gpu
