// What the device itself recorded in the trace windows: when kernels ran, when copies ran with no kernel beside them,
// and how long the gaps were. A copy that kernels hid costs nothing, whatever its length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "diagnose/diagnosis.h"
#include "record/run.h"

namespace fullbore::diagnose {

// Copies from the host out of one kind of memory.
struct CopiesFrom {
  std::int64_t count = 0;
  double bytes = 0;
  double busy_ns = 0;
  double exposed_ns = 0;  // in which no kernel ran

  std::optional<double> gb_per_s() const { return busy_ns > 0 ? std::optional(bytes / busy_ns) : std::nullopt; }
};

struct GpuEvidence {
  std::size_t windows = 0;  // with kernels and without losses
  double seen_ns = 0;       // from the first to the last record of each, added up
  double kernel_ns = 0;     // in which a kernel ran, on any stream
  CopiesFrom pageable, pinned;
  double waited_for = 0;              // share of the pinned bytes whose copy the host stood still for
  std::array<double, 4> gap_ns = {};  // without a kernel: in gaps below 1, 10 and 100 ms, and longer ones

  double share(double ns) const { return seen_ns > 0 ? ns / seen_ns : 0; }
  double busy() const { return share(kernel_ns); }
  double copy_ns() const { return pageable.busy_ns + pinned.busy_ns; }
};

// Of the process `pid`, from windows inside [begin_ns, end_ns) whose kernels span two steps at least: a shorter one
// shows the busy part of a step and not the wait around it. On an H200 a job that was idle nine tenths of the time read
// 83 % busy from such windows. nullopt if there is none. One device per process: records of several are taken together.
std::optional<GpuEvidence> gpu_evidence(const record::RankRecords& rank, std::uint32_t pid, std::int64_t begin_ns,
                                        std::int64_t end_ns, double step_ns);

}  // namespace fullbore::diagnose
