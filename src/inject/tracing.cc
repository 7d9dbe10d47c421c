#include "inject/tracing.h"

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <stdio.h>

namespace fullbore::inject {
namespace {

// CUPTI takes device memory in buffers of 3.2 MB (about 100,000 records each) and up to 250 of them: 16 are 51 MB.
constexpr std::size_t kDeviceBuffers = 16;

// The versions whose cuptiFinalize is known to leave the process whole: before CUDA 12.6 it crashed with CUDA graphs,
// and what comes after 13.2 serves several tools in another way, which was not tried.
constexpr std::uint32_t kOldest = 24;
constexpr std::uint32_t kTooNew = 130300;

// Not CUPTI_ACTIVITY_KIND_GRAPH_TRACE: switched on and off around a graph that exists, it ended the process in
// cudaGraphLaunch and doubled correlation numbers in torch.profiler (CUPTI 13.0). Without it the nodes of a graph are
// kernels like others.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                         CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

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

const char* Tracing::unusable(std::uint32_t version) {
  if (version < kOldest) return "this process's libcupti is older than CUDA 12.6 and cannot be taken out again safely";
  if (version >= kTooNew) return "this process's libcupti is newer than CUDA 13.2, which has not been tried";
  return nullptr;
}

// Attributes are global to the process, and torch.profiler relies on its own: they are ours only while we trace.
void Tracing::limit_memory() {
  // One buffer for all threads, so that a flush on any of them hands it back; may be chosen before the first use alone.
  std::uint8_t per_thread = 0;
  std::size_t size = sizeof per_thread;
  if (!shared_) api_.set_attribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread);
  size = sizeof device_buffers_;
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

Tracing::Outcome Tracing::subscribe(CUpti_CallbackFunc callback) {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUptiResult result = CUPTI_SUCCESS;
  if (api_.subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params = {sizeof params, "fullbore", holder, sizeof holder};
    result = api_.subscribe_v2(&subscriber_, callback, nullptr, &params);
  } else {
    result = api_.subscribe(&subscriber_, callback, nullptr);
  }
  if (result == CUPTI_SUCCESS) return Outcome::kOk;
  if (!is_taken(result)) {
    say("CUPTI refuses to trace", result);
    return Outcome::kRefused;
  }
  holder[sizeof holder - 1] = '\0';
  snprintf(why_, sizeof why_, "another tool traces this process%s%s", holder[0] == '\0' ? "" : ": ", holder);
  return Outcome::kTaken;
}

// A subscription that succeeds shows that nobody else has one; it is given back at once, for torch.profiler, once
// refused, has no GPU events for the rest of the process.
Tracing::Outcome Tracing::probe(CUpti_CallbackFunc callback) {
  const Outcome outcome = subscribe(callback);
  if (outcome == Outcome::kOk) api_.unsubscribe(subscriber_);
  return outcome;
}

CUptiResult Tracing::enable(const Callbacks& callbacks) {
  CUptiResult result = api_.register_callbacks(callbacks.request, callbacks.complete);
  for (const CUpti_ActivityKind kind : kKinds) {
    if (result == CUPTI_SUCCESS) result = api_.enable(kind);
  }
  return result;
}

Tracing::Outcome Tracing::attach(const Callbacks& callbacks, bool shared) {
  shared_ = shared;
  const Outcome outcome = probe(callbacks.left);
  if (outcome == Outcome::kRefused || (outcome == Outcome::kTaken && !shared)) return outcome;
  limit_memory();
  if (const CUptiResult result = enable(callbacks); result != CUPTI_SUCCESS) {
    say("CUPTI refuses to trace", result);
    close();
    end();
    return Outcome::kRefused;
  }
  if (api_.enable_all_sync_records != nullptr) api_.enable_all_sync_records(0);
  set_calls(1);
  attached_ = true;
  return Outcome::kOk;
}

void Tracing::set_calls(std::uint8_t enable) {
  if (api_.enable_runtime_call != nullptr) {
    for (const CUpti_CallbackId call : kRuntimeCalls) api_.enable_runtime_call(call, enable);
  }
  if (api_.enable_driver_call != nullptr) {
    for (const CUpti_CallbackId call : kDriverCalls) api_.enable_driver_call(call, enable);
  }
}

void Tracing::close() {
  set_calls(0);
  for (const CUpti_ActivityKind kind : kKinds) api_.disable(kind);
}

void Tracing::end() {
  api_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  restore_memory();
  attached_ = false;
}

bool Tracing::await_exit(CUpti_CallbackFunc left) {
  if (shared_ || subscribe(left) != Outcome::kOk) return false;
  api_.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API);
  api_.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API);
  return true;
}

}  // namespace fullbore::inject
