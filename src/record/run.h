// A run folder read into memory: what every judgement is a function of. A run cut short at any byte is readable up to
// there; what was damaged is listed, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "wire/gpu_records.h"

namespace fullbore::record {

// run.json: what the launcher knows. Written at the start, again at the end.
struct RunInfo {
  std::string fullbore_version;
  std::vector<std::string> command;
  std::string working_directory;
  std::string host;
  std::string started_utc;             // 2026-11-29T14:03:11Z
  std::int64_t start_ns = 0;           // monotonic; zero point of the report
  std::optional<std::int64_t> end_ns;  // absent: the run was cut short
  std::optional<int> exit_code;
  std::optional<int> signal;  // that ended the command
  std::string stopped_by;     // "command ended", "--for", "--steps", "" (cut short)
  std::string fix;            // "", "exact", "plain", or the folder of the run whose report was applied
  std::map<std::string, std::string> environment;  // allow-list only, docs/design/001-records.md
  // What this machine's link to the GPU can do, measured before the run: "pinned_h2d_gb_per_s",
  // "pageable_h2d_gb_per_s", "pinned_d2h_gb_per_s". Empty: never measured here.
  std::map<std::string, double> ceilings;
  std::optional<double> collector_cpu_s;  // our own cost
  std::optional<double> collector_peak_mib;
  std::vector<std::pair<std::string, std::string>> missing;  // signal, why
};

// A record and who wrote it.
template <typename T>
struct From {
  T record;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
};

// A batch of sampler values over time, deltas undone: times and values of equal length.
struct Series {
  std::string metric;
  std::string label;
  std::string unit;
  wire::SeriesKind kind = wire::SeriesKind::kGauge;
  std::vector<std::int64_t> time_ns;
  std::vector<double> value;
};

// All processes of one rank. Each list is in order of time.
struct RankRecords {
  int rank = 0;
  std::vector<From<wire::ProcessRecord>> processes;
  std::vector<From<wire::LoaderRecord>> loaders;
  std::vector<From<wire::IteratorRecord>> iterators;
  std::vector<From<wire::NextRecord>> nexts;
  std::vector<From<wire::BatchRecord>> batches;
  std::vector<From<wire::SampleRecord>> samples;
  std::vector<From<wire::ProfileRecord>> profile;
  std::vector<From<wire::StepRecord>> steps;
  std::vector<From<wire::ModelRecord>> models;
  std::vector<From<wire::IntervalRecord>> intervals;
  std::vector<From<wire::MissingRecord>> missing;
  std::vector<From<wire::FixRecord>> fixes;
  std::vector<From<wire::UserStepRecord>> user_steps;
  std::vector<From<wire::DataPathRecord>> data_paths;
  std::vector<From<wire::FailureRecord>> failures;
  std::vector<From<wire::BatchTensorRecord>> batch_tensors;
  std::vector<From<wire::GpuDeviceRecord>> gpu_devices;
  std::vector<From<wire::CopyRecord>> copies;
  std::vector<From<wire::KernelRecord>> kernels;
  std::vector<From<wire::SyncRecord>> syncs;
  std::vector<From<wire::LaunchCallRecord>> launch_calls;
  std::vector<From<wire::TraceWindowRecord>> trace_windows;
  std::vector<From<wire::ClockPairRecord>> clock_pairs;
  std::vector<From<wire::TraceOverheadRecord>> trace_overheads;
  std::vector<From<wire::WorkerExitRecord>> worker_exits;
  std::uint64_t dropped = 0;
  std::map<wire::Kind, std::uint64_t> thinned;
};

struct Run {
  std::string folder;
  RunInfo info;
  std::vector<RankRecords> ranks;  // by rank
  std::vector<Series> series;      // of the host and the process tree
  std::unordered_map<wire::NameId, std::string> names;
  std::vector<std::string> damage;  // "rank-0/records.fbr: cut short at byte 81920; 3 frames after it lost"

  // Text of a name, "" for 0 or a name that was lost.
  std::string_view name(wire::NameId id) const;
  // The series of that metric and label, or nullptr: not measured.
  const Series* find(std::string_view metric, std::string_view label = "") const;
};

// Fails if the folder or its run.json is not there, or was written by a newer Fullbore (the message says which).
base::Expected<Run> read_run(const std::string& folder);

}  // namespace fullbore::record
