#include "inject/cupti_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <initializer_list>

namespace fullbore::inject {
namespace {

constexpr std::size_t kPathBytes = 4096;

struct Search {
  const char* file_name;  // begins with
  char path[kPathBytes];
};

int matches(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
  if (strncmp(name, search.file_name, strlen(search.file_name)) != 0) return 0;
  snprintf(search.path, sizeof search.path, "%s", info->dlpi_name);
  return 1;
}

// Path of the loaded library whose file name begins so; "" if none is.
Search loaded(const char* file_name) {
  Search search{file_name, ""};
  dl_iterate_phdr(matches, &search);
  return search;
}

// The run time's wheel and the toolkit keep CUPTI beside it, the CUDA 12 wheels in a folder of its own.
void* open_beside(char* runtime) {
  const char* version = strstr(runtime, "libcudart.so.");
  char* slash = strrchr(runtime, '/');
  if (version == nullptr || slash == nullptr) return nullptr;
  char major[8];
  snprintf(major, sizeof major, "%.2s", version + strlen("libcudart.so."));
  *slash = '\0';
  for (const char* folder : {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"}) {
    char path[kPathBytes + 64];
    snprintf(path, sizeof path, "%s%s/libcupti.so.%s", runtime, folder, major);
    if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

void* open_cupti() {
  Search cupti = loaded("libcupti.so");
  if (cupti.path[0] != '\0') return dlopen(cupti.path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  Search runtime = loaded("libcudart.so");
  return runtime.path[0] == '\0' ? nullptr : open_beside(runtime.path);
}

template <typename Function>
bool take(void* handle, Function& function, const char* symbol) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

}  // namespace

const char* find_cupti(CuptiApi& api) {
  void* handle = open_cupti();
  if (handle == nullptr) return "the process has no libcupti, and none lies beside its CUDA run time";
  const bool whole =
      take(handle, api.get_version, "cuptiGetVersion") & take(handle, api.result_string, "cuptiGetResultString") &
      take(handle, api.timestamp, "cuptiGetTimestamp") & take(handle, api.subscribe, "cuptiSubscribe") &
      take(handle, api.unsubscribe, "cuptiUnsubscribe") &
      take(handle, api.register_callbacks, "cuptiActivityRegisterCallbacks") &
      take(handle, api.enable, "cuptiActivityEnable") & take(handle, api.disable, "cuptiActivityDisable") &
      take(handle, api.flush, "cuptiActivityFlushAll") & take(handle, api.next_record, "cuptiActivityGetNextRecord") &
      take(handle, api.get_attribute, "cuptiActivityGetAttribute") &
      take(handle, api.set_attribute, "cuptiActivitySetAttribute") &
      take(handle, api.enable_domain, "cuptiEnableDomain") & take(handle, api.finalize, "cuptiFinalize");
  if (!whole) return "the process's libcupti lacks functions that every version since CUDA 11 has";
  take(handle, api.subscribe_v2, "cuptiSubscribe_v2");
  take(handle, api.enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  take(handle, api.enable_driver_call, "cuptiActivityEnableDriverApi");
  take(handle, api.enable_all_sync_records, "cuptiActivityEnableAllSyncRecords");
  return nullptr;
}

DriverApi find_driver() {
  DriverApi api{};
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) return api;
  take(handle, api.pci_bus_id, "cuDeviceGetPCIBusId");
  take(handle, api.name, "cuDeviceGetName");
  take(handle, api.capture_mode, "cuThreadExchangeStreamCaptureMode");
  return api;
}

}  // namespace fullbore::inject
