#include "gpu/device.h"

#include <unistd.h>

#include "gpu/cuda_api.h"

namespace fullbore::gpu {

using base::Expected;

Expected<std::shared_ptr<const Device>> Device::open(const CudaApi& api, int ordinal) {
  int count = 0;
  if (auto ok = check(api, api.device_get_count(&count), "count CUDA devices"); !ok) return std::unexpected(ok.error());
  if (ordinal < 0 || ordinal >= count) {
    return base::fail("there is no device cuda:" + std::to_string(ordinal) + "; this process sees " +
                      std::to_string(count) + " CUDA devices (CUDA_VISIBLE_DEVICES limits them)");
  }
  CUdevice device = 0;
  if (auto ok = check(api, api.device_get(&device, ordinal), "open the device"); !ok)
    return std::unexpected(ok.error());
  CUcontext context = nullptr;
  const CUresult retained = api.primary_context_retain(&context, device);
  if (auto ok = check(api, retained, "use the device's primary context"); !ok) return std::unexpected(ok.error());
  return std::shared_ptr<const Device>(new Device(api, ordinal, context, ::getpid()));
}

Device::~Device() {
  if (forked()) return;
  CUdevice device = 0;
  if (api_.device_get(&device, ordinal_) == CUDA_SUCCESS) api_.primary_context_release(device);
}

bool Device::forked() const {
  return ::getpid() != pid_;
}

Expected<void> Device::enter_thread() const {
  if (auto ok = check(api_, api_.context_set_current(context_), "enter the device's context"); !ok) return ok;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  return check(api_, api_.exchange_capture_mode(&mode), "relax the thread's capture mode");
}

ContextScope::ContextScope(const Device& device) : device_(device), mode_(CU_STREAM_CAPTURE_MODE_RELAXED) {
  const CudaApi& api = device.api();
  exchange_mode();
  if (api.context_get_current(&before_) == CUDA_SUCCESS && before_ == device.context_) return;
  changed_ = api.context_set_current(device.context_) == CUDA_SUCCESS;
}

ContextScope::~ContextScope() {
  if (changed_) device_.api().context_set_current(before_);
  exchange_mode();
}

void ContextScope::exchange_mode() {
  auto mode = static_cast<CUstreamCaptureMode>(mode_);
  device_.api().exchange_capture_mode(&mode);
  mode_ = mode;
}

}  // namespace fullbore::gpu
