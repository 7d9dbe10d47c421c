// The driver's functions that Fullbore calls, each typed by the vendor's own prototype. Only src/gpu includes this.
#pragma once

#include <cuda.h>

#include <string>

#include "base/error.h"
#include "gpu/cuda_driver.h"

namespace fullbore::gpu {

struct CudaApi {
  decltype(&cuInit) init;
  decltype(&cuDriverGetVersion) driver_get_version;
  decltype(&cuDeviceGetCount) device_get_count;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDeviceGetName) device_get_name;
  decltype(&cuDeviceGetPCIBusId) device_get_pci_bus_id;
  decltype(&cuDevicePrimaryCtxRetain) primary_context_retain;
  decltype(&cuDevicePrimaryCtxRelease) primary_context_release;
  decltype(&cuCtxSetCurrent) context_set_current;
  decltype(&cuCtxGetCurrent) context_get_current;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode;
  decltype(&cuStreamCreate) stream_create;
  decltype(&cuStreamDestroy) stream_destroy;
  decltype(&cuStreamWaitEvent) stream_wait_event;
  decltype(&cuEventCreate) event_create;
  decltype(&cuEventDestroy) event_destroy;
  decltype(&cuEventRecord) event_record;
  decltype(&cuEventQuery) event_query;
  decltype(&cuEventSynchronize) event_synchronize;
  decltype(&cuEventElapsedTime) event_elapsed_time;
  decltype(&cuMemHostAlloc) host_alloc;
  decltype(&cuMemFreeHost) host_free;
  decltype(&cuMemAlloc) device_alloc;
  decltype(&cuMemFree) device_free;
  decltype(&cuMemcpyHtoDAsync) copy_to_device_async;
  decltype(&cuMemcpyDtoHAsync) copy_to_host_async;
  decltype(&cuPointerGetAttribute) pointer_get_attribute;
  decltype(&cuModuleLoadDataEx) module_load_data;
  decltype(&cuModuleUnload) module_unload;
  decltype(&cuModuleGetFunction) module_get_function;
  decltype(&cuLaunchKernel) launch_kernel;
  decltype(&cuGetErrorName) get_error_name;      // optional: null in a table without it
  decltype(&cuGetErrorString) get_error_string;  // optional
};

// "cannot WHAT: CUDA_ERROR_NAME (the driver's sentence)".
base::Error cuda_error(const CudaApi& api, CUresult result, const std::string& what);

// Nothing if `result` is success, otherwise cuda_error().
base::Expected<void> check(const CudaApi& api, CUresult result, const char* what);

}  // namespace fullbore::gpu
