#include "inject/tracing.h"

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <stdio.h>

namespace fullbore::inject {
namespace {

// CUPTI takes device memory in buffers of 3.2 MB (about 100,000 records each) and up to 250 of them: 16 are 51 MB.
constexpr std::size_t kDeviceBuffers = 16;

// With the kernels of a window. Not CUPTI_ACTIVITY_KIND_GRAPH_TRACE: switched on and off around a graph that exists, it
// ended the process in cudaGraphLaunch and doubled correlation numbers in torch.profiler (CUPTI 13.0). Without it the
// nodes of a graph are kernels like others.
constexpr CUpti_ActivityKind kWindowKinds[] = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD};

// Calls that launch, of torch (run time) and of Triton, JAX and others (driver).
constexpr CUpti_CallbackId kRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
    CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
};
constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
};

void on_nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// Answers of a libcupti that somebody else has: 12 by those before CUDA 11, 39 since.
bool is_taken(CUptiResult result) {
  return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

}  // namespace

void Tracing::say(const char* what, CUptiResult result) {
  const char* text = nullptr;
  api_.result_string(result, &text);
  snprintf(why_, sizeof why_, "%s: %s (%d)", what, text == nullptr ? "unknown" : text, static_cast<int>(result));
}

// Attributes are global to the process, and torch.profiler relies on its own: they are ours only while we trace.
void Tracing::limit_memory() {
  if (device_buffers_ == 0) {
    // One buffer for all threads, so that a flush on any of them hands it back; may be chosen before the first use
    // alone.
    std::uint8_t per_thread = 0;
    std::size_t flag_size = sizeof per_thread;
    api_.set_attribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &flag_size, &per_thread);
  }
  std::size_t size = sizeof device_buffers_;
  if (api_.get_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &device_buffers_) != CUPTI_SUCCESS) {
    device_buffers_ = 0;
    return;
  }
  std::size_t count = kDeviceBuffers;
  size = sizeof count;
  api_.set_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &count);
}

void Tracing::restore_memory() {
  std::size_t size = sizeof device_buffers_;
  if (device_buffers_ == 0) return;
  api_.set_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &device_buffers_);
}

// A subscription that succeeds shows that nobody else has one; it is given back at once.
Tracing::Outcome Tracing::probe() {
  CUpti_SubscriberHandle handle = nullptr;
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUptiResult result = CUPTI_SUCCESS;
  if (api_.subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params = {sizeof params, "fullbore", holder, sizeof holder};
    result = api_.subscribe_v2(&handle, on_nothing, nullptr, &params);
  } else {
    result = api_.subscribe(&handle, on_nothing, nullptr);
  }
  if (result == CUPTI_SUCCESS) {
    api_.unsubscribe(handle);
    return Outcome::kOk;
  }
  if (!is_taken(result)) {
    say("CUPTI refuses to trace", result);
    return Outcome::kRefused;
  }
  holder[sizeof holder - 1] = '\0';
  snprintf(why_, sizeof why_, "another tool traces this process%s%s", holder[0] == '\0' ? "" : ": ", holder);
  return Outcome::kTaken;
}

Tracing::Outcome Tracing::begin(const BufferCallbacks& callbacks, bool shared) {
  const Outcome outcome = probe();
  if (outcome == Outcome::kRefused || (outcome == Outcome::kTaken && !shared)) return outcome;
  limit_memory();
  CUptiResult result = api_.register_callbacks(callbacks.request, callbacks.complete);
  if (result == CUPTI_SUCCESS) result = api_.enable(CUPTI_ACTIVITY_KIND_MEMCPY);
  if (result != CUPTI_SUCCESS) {
    say("CUPTI refuses to trace copies", result);
    return Outcome::kRefused;
  }
  if (api_.enable_all_sync_records != nullptr) api_.enable_all_sync_records(0);
  on_ = true;
  return Outcome::kOk;
}

void Tracing::end() {
  api_.disable(CUPTI_ACTIVITY_KIND_MEMCPY);
  api_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  restore_memory();
  on_ = false;
}

void Tracing::set_calls(std::uint8_t enable) {
  if (api_.enable_runtime_call != nullptr) {
    for (const CUpti_CallbackId call : kRuntimeCalls) api_.enable_runtime_call(call, enable);
  }
  if (api_.enable_driver_call != nullptr) {
    for (const CUpti_CallbackId call : kDriverCalls) api_.enable_driver_call(call, enable);
  }
}

bool Tracing::open_window() {
  for (const CUpti_ActivityKind kind : kWindowKinds) api_.enable(kind);
  const CUptiResult result = api_.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (result != CUPTI_SUCCESS) {
    say("CUPTI refuses to trace kernels", result);
    close_window();
    return false;
  }
  set_calls(1);
  return true;
}

void Tracing::close_window() {
  set_calls(0);
  api_.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (const CUpti_ActivityKind kind : kWindowKinds) api_.disable(kind);
}

}  // namespace fullbore::inject
