// Files of a run folder -> Run.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "record/frame.h"
#include "record/run.h"
#include "record/run_info.h"
#include "record/spawned_workers.h"

namespace fullbore::record {
namespace {

namespace fs = std::filesystem;

base::Expected<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(base::Error::system(errno, "cannot open " + path.string()));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Puts records into their lists. One instance per file.
class Sorter {
 public:
  Sorter(Run& run, RankRecords* rank) : run_(run), rank_(rank) {}

  // Returns false if the records are not framed as they should be.
  bool frame(const Frame& frame) {
    frame_ = &frame;
    std::size_t at = 0;
    const auto& bytes = frame.records;
    while (at + sizeof(wire::RecordHeader) <= bytes.size()) {
      wire::RecordHeader header;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      if (header.size < sizeof header || header.size % 8 != 0 || header.size > bytes.size() - at) return false;
      record(header.kind, {bytes.data() + at + sizeof header, header.size - sizeof header});
      at += header.size;
    }
    return at == bytes.size();
  }

 private:
  using Payload = std::span<const std::byte>;

  // A record may have grown at its end since this reader was built; the known prefix is taken.
  template <typename T>
  static std::optional<T> as(Payload payload) {
    if (payload.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
  }

  template <typename T>
  void keep(Payload payload, std::vector<From<T>>& list) {
    if (const auto value = as<T>(payload)) list.push_back({*value, frame_->pid, frame_->tid});
  }

  void record(wire::Kind kind, Payload payload) {
    switch (kind) {
      case wire::Kind::kName:
        return name(payload);
      case wire::Kind::kSeries:
        return series(payload);
      case wire::Kind::kReadings:
        return readings(payload);
      default:
        break;
    }
    if (rank_ != nullptr) of_rank(kind, payload);
  }

  void of_rank(wire::Kind kind, Payload payload) {
    RankRecords& rank = *rank_;
    switch (kind) {
      case wire::Kind::kProcess:
        return keep(payload, rank.processes);
      case wire::Kind::kLoader:
        return keep(payload, rank.loaders);
      case wire::Kind::kIterator:
        return keep(payload, rank.iterators);
      case wire::Kind::kNext:
        return keep(payload, rank.nexts);
      case wire::Kind::kBatch:
        return keep(payload, rank.batches);
      case wire::Kind::kSample:
        return keep(payload, rank.samples);
      case wire::Kind::kProfile:
        return keep(payload, rank.profile);
      case wire::Kind::kStep:
        return keep(payload, rank.steps);
      case wire::Kind::kModel:
        return keep(payload, rank.models);
      case wire::Kind::kInterval:
        return keep(payload, rank.intervals);
      case wire::Kind::kMissing:
        return keep(payload, rank.missing);
      case wire::Kind::kFix:
        return keep(payload, rank.fixes);
      case wire::Kind::kUserStep:
        return keep(payload, rank.user_steps);
      case wire::Kind::kDataPath:
        return keep(payload, rank.data_paths);
      case wire::Kind::kBatchTensor:
        return keep(payload, rank.batch_tensors);
      case wire::Kind::kFailure:
        return keep(payload, rank.failures);
      case wire::Kind::kGpuDevice:
        return keep(payload, rank.gpu_devices);
      case wire::Kind::kCopy:
        return keep(payload, rank.copies);
      case wire::Kind::kKernel:
        return keep(payload, rank.kernels);
      case wire::Kind::kSync:
        return keep(payload, rank.syncs);
      case wire::Kind::kLaunchCall:
        return keep(payload, rank.launch_calls);
      case wire::Kind::kTraceWindow:
        return keep(payload, rank.trace_windows);
      case wire::Kind::kClockPair:
        return keep(payload, rank.clock_pairs);
      case wire::Kind::kTraceOverhead:
        return keep(payload, rank.trace_overheads);
      case wire::Kind::kWorkerExit:
        return keep(payload, rank.worker_exits);
      case wire::Kind::kDropped:
        if (const auto value = as<wire::DroppedRecord>(payload)) rank.dropped += value->count;
        return;
      case wire::Kind::kThinned:
        if (const auto value = as<wire::ThinnedRecord>(payload)) rank.thinned[value->kind] += value->count;
        return;
      default:
        return;  // a kind of a newer Fullbore with the same version: optional by contract
    }
  }

  void name(Payload payload) {
    const auto value = as<wire::NameRecord>(payload);
    if (!value || value->length > payload.size() - sizeof *value) return;
    run_.names.try_emplace(value->id, reinterpret_cast<const char*>(payload.data()) + sizeof *value, value->length);
  }

  void series(Payload payload) {
    const auto value = as<wire::SeriesRecord>(payload);
    if (!value || value->series > 100'000) return;
    if (run_.series.size() <= value->series) run_.series.resize(value->series + 1);
    Series& series = run_.series[value->series];
    series.metric = run_.name(value->metric);
    series.label = run_.name(value->label);
    series.unit = run_.name(value->unit);
    series.kind = value->kind;
  }

  void readings(Payload payload) {
    const auto value = as<wire::ReadingsRecord>(payload);
    if (!value || value->count > (payload.size() - sizeof *value) / sizeof(wire::Reading)) return;
    for (std::uint32_t i = 0; i < value->count; ++i) {
      wire::Reading reading;
      std::memcpy(&reading, payload.data() + sizeof *value + i * sizeof reading, sizeof reading);
      if (reading.series >= run_.series.size()) continue;
      run_.series[reading.series].time_ns.push_back(value->time_ns);
      run_.series[reading.series].value.push_back(reading.value);
    }
  }

  Run& run_;
  RankRecords* rank_;
  const Frame* frame_ = nullptr;
};

base::Expected<void> read_records(Run& run, RankRecords* rank, const fs::path& path, const std::string& label) {
  const auto content = read_file(path);
  if (!content) return std::unexpected(content.error());
  Sorter sorter(run, rank);
  std::vector<std::string> unframed;
  const auto damage = read_frames(std::as_bytes(std::span(*content)), [&](const Frame& frame) {
    if (!sorter.frame(frame))
      unframed.push_back(fmt::format("{}: a frame of thread {} holds a damaged record", label, frame.tid));
  });
  if (!damage) return base::fail(label + ": " + damage.error().message());
  for (const auto& line : *damage) run.damage.push_back(label + ": " + line);
  std::ranges::move(unframed, std::back_inserter(run.damage));
  return {};
}

// Frames of different threads are written in the order they were drained; analysis wants time.
void sort_by_time(RankRecords& rank) {
  const auto sort = [](auto& list, auto time) {
    std::ranges::stable_sort(list, {}, [&](const auto& from) { return std::invoke(time, from.record); });
  };
  sort(rank.processes, &wire::ProcessRecord::time_ns);
  sort(rank.loaders, &wire::LoaderRecord::time_ns);
  sort(rank.iterators, &wire::IteratorRecord::begin_ns);
  sort(rank.nexts, &wire::NextRecord::begin_ns);
  sort(rank.batches, &wire::BatchRecord::begin_ns);
  sort(rank.samples, &wire::SampleRecord::begin_ns);
  sort(rank.profile, &wire::ProfileRecord::time_ns);
  sort(rank.steps, &wire::StepRecord::begin_ns);
  sort(rank.models, &wire::ModelRecord::time_ns);
  sort(rank.intervals, &wire::IntervalRecord::begin_ns);
  sort(rank.missing, &wire::MissingRecord::time_ns);
  sort(rank.fixes, &wire::FixRecord::time_ns);
  sort(rank.user_steps, &wire::UserStepRecord::begin_ns);
  sort(rank.data_paths, &wire::DataPathRecord::time_ns);
  sort(rank.batch_tensors, &wire::BatchTensorRecord::time_ns);
  sort(rank.failures, &wire::FailureRecord::time_ns);
  sort(rank.gpu_devices, &wire::GpuDeviceRecord::time_ns);
  sort(rank.copies, &wire::CopyRecord::begin_ns);
  sort(rank.kernels, &wire::KernelRecord::begin_ns);
  sort(rank.syncs, &wire::SyncRecord::begin_ns);
  sort(rank.launch_calls, &wire::LaunchCallRecord::begin_ns);
  sort(rank.trace_windows, &wire::TraceWindowRecord::begin_ns);
  sort(rank.clock_pairs, &wire::ClockPairRecord::monotonic_ns);
  sort(rank.trace_overheads, &wire::TraceOverheadRecord::time_ns);
  sort(rank.worker_exits, &wire::WorkerExitRecord::time_ns);
}

// rank-0, rank-1, ... by number.
std::vector<int> rank_numbers(const fs::path& folder) {
  std::vector<int> ranks;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    int number = 0;
    if (std::sscanf(name.c_str(), "rank-%d", &number) == 1 && name == fmt::format("rank-{}", number))
      ranks.push_back(number);
  }
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace

std::string_view Run::name(wire::NameId id) const {
  const auto it = names.find(id);
  return it == names.end() ? std::string_view() : std::string_view(it->second);
}

const Series* Run::find(std::string_view metric, std::string_view label) const {
  const auto it = std::ranges::find_if(
      series, [&](const Series& s) { return s.metric == metric && s.label == label && !s.value.empty(); });
  return it == series.end() ? nullptr : &*it;
}

base::Expected<Run> read_run(const std::string& folder) {
  const fs::path path(folder);
  const auto text = read_file(path / "run.json");
  if (!text)
    return base::fail(folder + " is not a run folder (" + text.error().message() + "); 'fullbore runs' lists them");
  auto info = parse_run_info(*text);
  if (!info) return base::fail(folder + ": " + info.error().message());
  Run run;
  run.folder = folder;
  run.info = std::move(*info);
  std::error_code ignored;
  if (fs::exists(path / "system.fbr", ignored)) {
    if (auto read = read_records(run, nullptr, path / "system.fbr", "system.fbr"); !read)
      return std::unexpected(read.error());
  }
  for (const int number : rank_numbers(path)) {
    RankRecords& rank = run.ranks.emplace_back();
    rank.rank = number;
    const std::string label = fmt::format("rank-{}/records.fbr", number);
    if (auto read = read_records(run, &rank, path / label, label); !read) return std::unexpected(read.error());
    sort_by_time(rank);
    name_loaders_of_spawned_workers(rank);
  }
  return run;
}

}  // namespace fullbore::record
