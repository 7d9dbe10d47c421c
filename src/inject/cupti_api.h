// The functions of CUPTI that are called, typed by the vendor's own prototypes, found in the libcupti that the process
// already has: a second copy would be a second subscriber, and another minor version breaks torch's import.
#pragma once

#include <cupti.h>

namespace fullbore::inject {

// Filled as a whole or not used. Null: this libcupti is too old for it.
struct CuptiApi {
  decltype(&cuptiGetVersion) get_version;
  decltype(&cuptiGetResultString) result_string;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiSubscribe) subscribe;
  decltype(&cuptiUnsubscribe) unsubscribe;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityGetAttribute) get_attribute;
  decltype(&cuptiActivitySetAttribute) set_attribute;
  decltype(&cuptiEnableDomain) enable_domain;
  decltype(&cuptiFinalize) finalize;
  // optional
  decltype(&cuptiSubscribe_v2) subscribe_v2;                             // names whoever is in the way; 13.0
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call;          // single calls instead of all of them; 12.x
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call;            // likewise
  decltype(&cuptiActivityEnableAllSyncRecords) enable_all_sync_records;  // 0 leaves out mere queries; 13.0
};

// Looks for a loaded libcupti, then for one beside the loaded CUDA run time. Returns null, or why there is none.
// Allocates nothing that must be freed; the library stays loaded for good.
const char* find_cupti(CuptiApi& api);

// What the driver itself is asked, of the libcuda that is calling us. Null: not to be had.
struct DriverApi {
  decltype(&cuDeviceGetPCIBusId) pci_bus_id;
  decltype(&cuDeviceGetName) name;
  decltype(&cuThreadExchangeStreamCaptureMode) capture_mode;
};
DriverApi find_driver();

}  // namespace fullbore::inject
