// Why the device ran no kernel: every instant of a gap goes to what the training thread, or the link, did then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/account.h"
#include "diagnose/gpu_windows.h"

namespace fullbore::diagnose {

// An instant that several claim belongs to the first of: what the thread was seen to do, a copy to the device, a wait
// for the device, and what is left.
enum class Idle : std::size_t {
  kInputWait,
  kCopy,        // a copy to the device, its host side where memory is pageable, or a row of many small ones
  kHostSync,    // the thread waited for the device, which had nothing left to do
  kLaunch,      // the thread was busy with something else: Python, the framework, launching
  kDeviceGap,   // between two kernels that were queued one behind the other
  kCollective,  // the thread waited for other ranks
  kCheckpoint,
  kValidation,
  kLogging,
  kGarbageCollection,
  kProfiler,
  kCount,
};
inline constexpr std::size_t kIdleKinds = static_cast<std::size_t>(Idle::kCount);

// By length of the gap: below 1, 10 and 100 ms, and longer.
inline constexpr std::size_t kGapSizes = 4;
std::size_t size_of_gap(std::int64_t gap_ns);

// The stretches of one window in which no kernel ran, by why; and in which one did.
struct WindowTime {
  std::array<Spans, kIdleKinds> idle;
  Spans busy;
};

// Of [begin_ns, end_ns) of the window; `stretches` are the training thread's exclusive claims.
WindowTime split_window(const GpuWindow& window, const std::vector<Stretch>& stretches, std::int64_t begin_ns,
                        std::int64_t end_ns);

}  // namespace fullbore::diagnose
