// Records of the device for tests, times in milliseconds. They are the trainer's.
#pragma once

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose::testing {

inline void add_window(record::RankRecords& rank, double begin_ms, double end_ms) {
  wire::TraceWindowRecord record{};
  record.begin_ns = ms(begin_ms);
  record.end_ns = ms(end_ms);
  rank.trace_windows.push_back({record, kTrainerPid, kTrainerPid});
}

inline void add_kernel(record::RankRecords& rank, double begin_ms, double end_ms) {
  wire::KernelRecord record{};
  record.begin_ns = ms(begin_ms);
  record.end_ns = ms(end_ms);
  rank.kernels.push_back({record, kTrainerPid, kTrainerPid});
}

// From the host.
inline void add_copy(record::RankRecords& rank, double begin_ms, double end_ms, wire::MemoryKind source,
                     std::int64_t bytes) {
  wire::CopyRecord record{};
  record.begin_ns = ms(begin_ms);
  record.end_ns = ms(end_ms);
  record.busy_ns = record.end_ns - record.begin_ns;
  record.bytes = bytes;
  record.count = 1;
  record.kind = wire::CopyKind::kHostToDevice;
  record.source = source;
  record.destination = wire::MemoryKind::kDevice;
  rank.copies.push_back({record, kTrainerPid, kTrainerPid});
}

// The host waits for a stream.
inline void add_wait(record::RankRecords& rank, double begin_ms, double end_ms) {
  wire::SyncRecord record{};
  record.begin_ns = ms(begin_ms);
  record.end_ns = ms(end_ms);
  record.kind = wire::SyncKind::kStream;
  rank.syncs.push_back({record, kTrainerPid, kTrainerPid});
}

}  // namespace fullbore::diagnose::testing
