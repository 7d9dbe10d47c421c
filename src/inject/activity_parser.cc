#include "inject/activity_parser.h"

#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <stddef.h>
#include <stdlib.h>

namespace fullbore::inject {
namespace {

// The offsets that every libcupti since CUDA 11 has, so that a header with others does not compile.
static_assert(offsetof(CUpti_ActivityMemcpy, bytes) == 8 && offsetof(CUpti_ActivityMemcpy, start) == 16 &&
              offsetof(CUpti_ActivityMemcpy, correlationId) == 44);
static_assert(offsetof(CUpti_ActivityKernel3, start) == 16 && offsetof(CUpti_ActivityKernel3, deviceId) == 40 &&
              offsetof(CUpti_ActivityKernel3, correlationId) == 92 && offsetof(CUpti_ActivityKernel3, name) == 104);
static_assert(offsetof(CUpti_ActivitySynchronization, start) == 8 &&
              offsetof(CUpti_ActivitySynchronization, correlationId) == 24);
static_assert(offsetof(CUpti_ActivityOverhead, start) == 24 && offsetof(CUpti_ActivityAPI, start) == 8 &&
              offsetof(CUpti_ActivityAPI, correlationId) == 32);

bool timed(std::uint64_t start, std::uint64_t end) {
  return start != 0 && end >= start;
}

bool is_copy_call(std::uint32_t id, bool runtime) {
  return runtime
             ? id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020 || id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020
             : id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2;
}

bool is_graph_call(std::uint32_t id, bool runtime) {
  return runtime ? id == CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000 : id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
}

// Flushing is done by the tracer's own thread, which waits in it; module loading, lazy loading and a full launch queue
// take place without us too.
bool is_ours(std::uint32_t kind) {
  return kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION >> 16 ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE >> 16 ||
         kind == CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST >> 16;
}

}  // namespace

void ActivityParser::parse(std::uint8_t* buffer, std::size_t valid) {
  CUpti_Activity* activity = nullptr;
  while (api_.next_record(buffer, valid, &activity) == CUPTI_SUCCESS && activity != nullptr) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(activity);
    if (at < buffer || at >= buffer + valid) return;
    record(activity, static_cast<std::size_t>(buffer + valid - at));
  }
}

void ActivityParser::record(const CUpti_Activity* activity, std::size_t room) {
  if (room < sizeof(CUpti_ActivityKind)) return;
  bool whole = true;
  // Calls `use` with the record as a T, if all of it is there.
  const auto as = [&]<typename T>(void (ActivityParser::*use)(const T&)) {
    whole = room >= sizeof(T);
    if (whole) (this->*use)(*reinterpret_cast<const T*>(activity));
  };
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      as(&ActivityParser::copy);
      break;
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      as(&ActivityParser::kernel);
      break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      as(&ActivityParser::sync);
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      as(&ActivityParser::call);
      break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      as(&ActivityParser::overhead);
      // Since CUDA 13.0 a record may own memory that its reader must free.
      if (version_ >= 130000 && room >= sizeof(CUpti_ActivityOverhead3)) {
        free(reinterpret_cast<const CUpti_ActivityOverhead3*>(activity)->overheadData);
      }
      break;
    default:
      return;  // one that somebody else enabled
  }
  if (!whole) ++counts_.lost;
}

// Written before the first record that names the device.
void ActivityParser::introduce(std::uint32_t device) {
  if (device >= 64 || (devices_known_ >> device & 1) != 0) return;
  devices_known_ |= std::uint64_t{1} << device;
  wire::GpuDeviceRecord record = {monotonic_now_ns(), device, 0, 0, 0};
  char text[256] = "";
  if (driver_.pci_bus_id != nullptr &&
      driver_.pci_bus_id(text, sizeof text, static_cast<CUdevice>(device)) == CUDA_SUCCESS) {
    for (char* at = text; *at != '\0'; ++at) *at = *at >= 'A' && *at <= 'F' ? static_cast<char>(*at + 32) : *at;
    record.pci_bus_id = output_.name(text);
  }
  if (driver_.name != nullptr && driver_.name(text, sizeof text, static_cast<CUdevice>(device)) == CUDA_SUCCESS) {
    record.name = output_.name(text);
  }
  output_.put(record);
}

void ActivityParser::copy(const CUpti_ActivityMemcpy& copy) {
  if (!timed(copy.start, copy.end)) {
    ++counts_.lost;
    return;
  }
  introduce(copy.deviceId);
  const std::int64_t begin_ns = clock_.monotonic(copy.start);
  const auto busy_ns = static_cast<std::int64_t>(copy.end - copy.start);
  const wire::CopyRecord record = {begin_ns,
                                   begin_ns + busy_ns,
                                   busy_ns,
                                   static_cast<std::int64_t>(copy.bytes),
                                   copy.deviceId,
                                   copy.contextId,
                                   copy.streamId,
                                   copy.correlationId,
                                   1,
                                   static_cast<wire::CopyKind>(copy.copyKind),
                                   static_cast<wire::MemoryKind>(copy.srcKind),
                                   static_cast<wire::MemoryKind>(copy.dstKind),
                                   static_cast<std::uint8_t>(copy.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)};
  if (copies_this_second_ >= kSingleCopiesPerSecond) return add_to_sum(record);
  ++copies_this_second_;
  ++counts_.copies;
  output_.put(record);
}

void ActivityParser::add_to_sum(const wire::CopyRecord& copy) {
  for (Sum& sum : sums_) {
    if (!sum.used) {
      sum = {true, copy};
      sum.copy.correlation = 0;
      return;
    }
    wire::CopyRecord& all = sum.copy;
    if (all.device != copy.device || all.stream != copy.stream || all.kind != copy.kind || all.source != copy.source ||
        all.destination != copy.destination || all.flags != copy.flags)
      continue;
    all.begin_ns = copy.begin_ns < all.begin_ns ? copy.begin_ns : all.begin_ns;
    all.end_ns = copy.end_ns > all.end_ns ? copy.end_ns : all.end_ns;
    all.busy_ns += copy.busy_ns;
    all.bytes += copy.bytes;
    ++all.count;
    return;
  }
  output_.put(copy);  // more kinds than sums: rare enough to be told apart
}

void ActivityParser::end_of_second() {
  copies_this_second_ = 0;
  for (Sum& sum : sums_) {
    if (sum.used) output_.put(sum.copy);
    sum.used = false;
  }
}

void ActivityParser::kernel(const CUpti_ActivityKernel3& kernel) {
  if (!timed(kernel.start, kernel.end)) {
    ++counts_.lost;
    return;
  }
  introduce(kernel.deviceId);
  ++counts_.kernels;
  const std::int64_t begin_ns = clock_.monotonic(kernel.start);
  output_.put(wire::KernelRecord{begin_ns, begin_ns + static_cast<std::int64_t>(kernel.end - kernel.start),
                                 output_.name(kernel.name), kernel.deviceId, kernel.contextId, kernel.streamId,
                                 kernel.correlationId});
}

void ActivityParser::sync(const CUpti_ActivitySynchronization& sync) {
  if (!timed(sync.start, sync.end)) return;  // a stream's wait for an event has no duration in some versions
  ++counts_.waits;
  output_.put(wire::SyncRecord{clock_.monotonic(sync.start), clock_.monotonic(sync.end),
                               static_cast<wire::SyncKind>(sync.type), sync.contextId, sync.streamId,
                               sync.correlationId});
}

void ActivityParser::call(const CUpti_ActivityAPI& call) {
  if (!timed(call.start, call.end)) {
    ++counts_.lost;
    return;
  }
  ++counts_.calls;
  const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  const auto kind = is_copy_call(call.cbid, runtime)    ? wire::CallKind::kCopy
                    : is_graph_call(call.cbid, runtime) ? wire::CallKind::kGraph
                                                        : wire::CallKind::kKernel;
  output_.put(wire::LaunchCallRecord{clock_.monotonic(call.start), clock_.monotonic(call.end), kind, call.threadId,
                                     call.correlationId, 0});
}

void ActivityParser::overhead(const CUpti_ActivityOverhead& overhead) {
  if (!timed(overhead.start, overhead.end)) return;
  const std::uint32_t kind = static_cast<std::uint32_t>(overhead.overheadKind) >> 16;
  const auto busy_ns = static_cast<std::int64_t>(overhead.end - overhead.start);
  if (is_ours(kind)) counts_.cost_ns += busy_ns;
  if (kind >= kOverheads) return;
  overheads_[kind].busy_ns += busy_ns;
  ++overheads_[kind].count;
}

void ActivityParser::put_overheads() {
  for (std::uint32_t kind = 0; kind < kOverheads; ++kind) {
    Overhead& overhead = overheads_[kind];
    if (overhead.count > 0) {
      output_.put(wire::TraceOverheadRecord{monotonic_now_ns(), overhead.busy_ns, kind, overhead.count});
    }
    overhead = {};
  }
}

ActivityParser::Counts ActivityParser::take_counts() {
  const Counts counts = counts_;
  counts_ = {};
  return counts;
}

}  // namespace fullbore::inject
