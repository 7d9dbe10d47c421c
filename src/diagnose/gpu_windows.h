// The records of each trace window, together: what the device and the waiting host did in a stretch in which everything
// launched was traced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/spans.h"
#include "record/run.h"

namespace fullbore::diagnose {

// A copy from the host to the device.
struct GpuCopy {
  const wire::CopyRecord* record = nullptr;
  bool waited_for = false;  // the host stood still until it was there

  bool single() const { return record->count == 1; }  // not a sum, of which only the first begin and last end are known
  bool pageable() const { return record->source == wire::MemoryKind::kPageable; }
  Span span() const { return {record->begin_ns, record->end_ns}; }
};

// The host waits for the device.
struct GpuWait {
  const wire::SyncRecord* record = nullptr;
  bool for_copy = false;  // ends with a copy

  Span span() const { return {record->begin_ns, record->end_ns}; }
};

// A row of small copies of which one follows the other so soon that between them only calls were made.
struct CopyRow {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t count = 0;
  double bytes = 0;
};

struct GpuWindow {
  std::int64_t begin_ns = 0, end_ns = 0;
  // From the first kernel on the device is known: what ran before may have been launched before the window.
  std::int64_t known_from_ns = 0;
  // Up to here every copy is on record by itself; later ones may be sums, of which nobody knows when each was.
  std::int64_t known_until_ns = 0;
  std::vector<std::int64_t> kernels_ns;  // when each kernel began, in order
  Spans compute;                         // kernels on any stream, collectives left out
  Spans collective;                      // kernels of a collective
  std::vector<GpuCopy> copies;           // in order of begin
  std::vector<GpuWait> waits;            // in order of end
  std::vector<CopyRow> rows;             // of small ones among the copies
};

// Of the process `pid`, those inside [begin_ns, end_ns) that hold kernels and lost nothing, in order of time. One
// device per process: records of several are taken together.
std::vector<GpuWindow> gpu_windows(const record::Run& run, const record::RankRecords& rank, std::uint32_t pid,
                                   std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace fullbore::diagnose
