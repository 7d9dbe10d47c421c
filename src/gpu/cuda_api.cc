#include "gpu/cuda_api.h"

#include "base/dynamic_library.h"

namespace fullbore::gpu {
namespace {

using base::Expected;

// Names are spelled out, with their versions: the header's macros would bind to what the header is of, and an older
// driver lacks the newest names (cuEventElapsedTime_v2 came with CUDA 12.8; the signature is the same).
Expected<void> fill(CudaApi& api, const base::DynamicLibrary& cuda) {
  Expected<void> found;
  const auto need = [&](auto*& function, const char* symbol) {
    if (found) found = cuda.require(function, symbol);
  };
  need(api.init, "cuInit");
  need(api.driver_get_version, "cuDriverGetVersion");
  need(api.device_get_count, "cuDeviceGetCount");
  need(api.device_get, "cuDeviceGet");
  need(api.device_get_name, "cuDeviceGetName");
  need(api.device_get_pci_bus_id, "cuDeviceGetPCIBusId");
  need(api.primary_context_retain, "cuDevicePrimaryCtxRetain");
  need(api.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  need(api.context_set_current, "cuCtxSetCurrent");
  need(api.context_get_current, "cuCtxGetCurrent");
  need(api.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  need(api.stream_create, "cuStreamCreate");
  need(api.stream_destroy, "cuStreamDestroy_v2");
  need(api.stream_wait_event, "cuStreamWaitEvent");
  need(api.event_create, "cuEventCreate");
  need(api.event_destroy, "cuEventDestroy_v2");
  need(api.event_record, "cuEventRecord");
  need(api.event_query, "cuEventQuery");
  need(api.event_synchronize, "cuEventSynchronize");
  need(api.event_elapsed_time, "cuEventElapsedTime");
  need(api.host_alloc, "cuMemHostAlloc");
  need(api.host_free, "cuMemFreeHost");
  need(api.device_alloc, "cuMemAlloc_v2");
  need(api.device_free, "cuMemFree_v2");
  need(api.copy_to_device_async, "cuMemcpyHtoDAsync_v2");
  need(api.copy_to_host_async, "cuMemcpyDtoHAsync_v2");
  need(api.pointer_get_attribute, "cuPointerGetAttribute");
  need(api.module_load_data, "cuModuleLoadDataEx");
  need(api.module_unload, "cuModuleUnload");
  need(api.module_get_function, "cuModuleGetFunction");
  need(api.launch_kernel, "cuLaunchKernel");
  cuda.optional(api.get_error_name, "cuGetErrorName");
  cuda.optional(api.get_error_string, "cuGetErrorString");
  return found;
}

Expected<CudaApi> open_driver() {
  static Expected<base::DynamicLibrary> cuda = base::DynamicLibrary::open({"libcuda.so.1"});
  if (!cuda) return std::unexpected(base::Error("no CUDA driver: " + cuda.error().message()));
  CudaApi api{};
  if (auto filled = fill(api, *cuda); !filled) return std::unexpected(filled.error());
  if (auto ready = check(api, api.init(0), "initialise CUDA"); !ready) return std::unexpected(ready.error());
  return api;
}

}  // namespace

Expected<const CudaApi*> load_cuda() {
  static const Expected<CudaApi> api = open_driver();
  if (!api) return std::unexpected(api.error());
  return &*api;
}

}  // namespace fullbore::gpu
