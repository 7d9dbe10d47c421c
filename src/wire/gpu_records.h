// The records of records.h that tell of the GPU: written by the tracer that the CUDA driver loads into a training
// process.
#pragma once

#include "wire/records.h"

namespace fullbore::wire {

// The device that `device` means in this process's other GPU records (its CUDA ordinal, which CUDA_VISIBLE_DEVICES
// renumbers). Written before the first record that uses it.
struct GpuDeviceRecord {
  std::int64_t time_ns;
  std::uint32_t device;
  std::uint32_t reserved;
  NameId pci_bus_id;  // "0000:18:00.0", lower case; 0 if the driver did not say
  NameId name;        // "NVIDIA H200"
};

// Numbered as CUPTI does.
enum class CopyKind : std::uint8_t {
  kUnspecified = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kHostToArray = 3,
  kArrayToHost = 4,
  kArrayToArray = 5,
  kArrayToDevice = 6,
  kDeviceToArray = 7,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
};
enum class MemoryKind : std::uint8_t {
  kUnspecified = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5,
};
enum CopyFlags : std::uint8_t {
  kCopyAsync = 1u << 0,  // the call did not wait for the copy
};

// One copy as the device executed it, or `count` copies of the same kind summed when there were too many to tell apart:
// begin of the first, end of the last, and `busy_ns` their own times added up.
struct CopyRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t busy_ns;
  std::int64_t bytes;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;  // of its launch call; 0 for a sum
  std::uint32_t count;
  CopyKind kind;
  MemoryKind source;
  MemoryKind destination;
  std::uint8_t flags;
};

// One kernel as the device executed it, also as a node of a graph. Only from trace windows.
struct KernelRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  NameId name;  // mangled, cut at 255 bytes
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

enum class SyncKind : std::uint32_t {
  kUnspecified = 0,
  kEvent = 1,
  kStreamWaitsForEvent = 2,
  kStream = 3,
  kContext = 4
};

// The host waited for the device (kStreamWaitsForEvent: a stream for an event, which costs the host nothing). Only from
// trace windows.
struct SyncRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  SyncKind kind;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

enum class CallKind : std::uint32_t { kOther = 0, kKernel = 1, kGraph = 2, kCopy = 3, kSync = 4 };

// The host's call that launched something (of a graph: all its kernels), tied to it by `correlation`. Only from trace
// windows.
struct LaunchCallRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  CallKind kind;
  std::uint32_t thread;  // id of the operating system
  std::uint32_t correlation;
  std::uint32_t reserved;
};

// A stretch in which everything launched was traced; written after what it holds. What was launched before begin and
// ran later is not in it, so the device is known from the first record on that was launched inside.
struct TraceWindowRecord {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t cost_ns;        // estimated, of the launching threads
  std::int64_t tracer_cpu_ns;  // CPU time of the tracer's own thread, since it started
  std::uint32_t kernels;       // recorded
  std::uint32_t calls;         // recorded
  std::uint32_t dropped;  // records of any kind lost in it; not 0: the device was not idle where nothing is recorded
  std::uint32_t reserved;
  NameId tier;  // "kernels", "kernels_no_launch"
};

// Both clocks read at once: monotonic_ns is the middle of the bracket around the device clock's reading.
struct ClockPairRecord {
  std::int64_t monotonic_ns;
  std::int64_t device_ns;    // as in the vendor's records
  std::int64_t residual_ns;  // half the bracket: how far the pair may be off
  std::int64_t drift_ns;     // against the previous pair; kUnknown for the first
};

// What the driver and its tracing cost the launching threads in a window, by the vendor's own account.
struct TraceOverheadRecord {
  std::int64_t time_ns;
  std::int64_t busy_ns;
  std::uint32_t kind;  // CUpti_ActivityOverheadKind >> 16, 0 for the driver's compiler; 6: the launch queue was full
  std::uint32_t count;
};

FULLBORE_KIND(GpuDeviceRecord, kGpuDevice);
FULLBORE_KIND(CopyRecord, kCopy);
FULLBORE_KIND(KernelRecord, kKernel);
FULLBORE_KIND(SyncRecord, kSync);
FULLBORE_KIND(LaunchCallRecord, kLaunchCall);
FULLBORE_KIND(TraceWindowRecord, kTraceWindow);
FULLBORE_KIND(ClockPairRecord, kClockPair);
FULLBORE_KIND(TraceOverheadRecord, kTraceOverhead);
#undef FULLBORE_KIND

}  // namespace fullbore::wire
