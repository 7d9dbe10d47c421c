// Records by hand; see run_builder.h.
#include "diagnose/testing/run_builder.h"

#include <algorithm>

namespace fullbore::diagnose::testing {
wire::NextRecord next_record(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t batch) {
  wire::NextRecord next{};
  next.begin_ns = begin_ns;
  next.end_ns = end_ns;
  next.queue_wait_ns = next.sampler_ns = next.pin_ns = next.cpu_ns = next.runq_ns = wire::kUnknown;
  next.loop_cpu_ns = next.loop_runq_ns = next.batch_bytes = wire::kUnknown;
  next.batch = batch;
  next.loader = next.iterator = 1;
  next.ready = next.ready_later = next.worker = next.samples = wire::kUnknown32;
  return next;
}

wire::BatchRecord batch_record(std::int64_t begin_ns, std::int64_t put_ns, std::int64_t batch, std::int32_t worker) {
  wire::BatchRecord record{};
  record.begin_ns = begin_ns;
  record.fetched_ns = record.collated_ns = record.put_ns = put_ns;
  record.idle_ns = record.cpu_ns = record.runq_ns = record.read_chars = record.read_bytes = wire::kUnknown;
  record.major_faults = record.slowest_ns = record.slowest_index = record.slowest_begin_ns = wire::kUnknown;
  record.batch = batch;
  record.loader = 1;
  record.worker = worker;
  record.samples = wire::kUnknown32;
  return record;
}

wire::StepRecord step_record(std::int64_t begin_ns, std::int64_t end_ns) {
  return {begin_ns, end_ns, 1, 0};
}

wire::LoaderRecord loader_record_of(std::uint32_t loader, std::int32_t workers) {
  wire::LoaderRecord record{};
  record.loader = loader;
  record.dataset_length = record.batches = wire::kUnknown;
  record.batch_size = record.prefetch_factor = record.dataset_line = wire::kUnknown32;
  record.workers = workers;
  record.line = record.end_line = wire::kUnknown32;
  return record;
}

wire::IteratorRecord iterator_record(std::int64_t begin_ns, std::uint32_t loader, std::uint32_t iterator,
                                     std::int32_t workers) {
  wire::IteratorRecord record{};
  record.begin_ns = record.end_ns = begin_ns;
  record.loader = loader;
  record.iterator = iterator;
  record.workers = workers;
  record.line = wire::kUnknown32;
  record.base_seed = 1000 + iterator;
  return record;
}

wire::IntervalRecord interval_record(wire::IntervalKind kind, std::int64_t begin_ns, std::int64_t end_ns) {
  wire::IntervalRecord record{};
  record.begin_ns = begin_ns;
  record.end_ns = end_ns;
  record.kind = kind;
  record.line = wire::kUnknown32;
  record.bytes = wire::kUnknown;
  return record;
}

wire::ProcessRecord process_record(wire::Role role, std::uint32_t parent_pid) {
  wire::ProcessRecord record{};
  record.parent_pid = parent_pid;
  record.rank = record.local_rank = record.world_size = record.worker = wire::kUnknown32;
  record.role = role;
  record.base_seed = wire::kUnknown;
  return record;
}

RunBuilder::RunBuilder() {
  run.folder = "/runs/1";
  run.info.command = {"python", "train.py"};
  run.info.start_ns = kStartNs;
}

wire::NameId RunBuilder::name(std::string_view text) {
  const wire::NameId id = wire::name_id(text.data(), text.size());
  if (id != 0) run.names[id] = text;
  return id;
}

record::RankRecords& RunBuilder::rank(int number) {
  for (record::RankRecords& rank : run.ranks) {
    if (rank.rank == number) return rank;
  }
  run.ranks.emplace_back().rank = number;
  return run.ranks.back();
}

void RunBuilder::gauge(std::string_view metric, double value, std::string_view label) {
  run.series.push_back({std::string(metric), std::string(label), "", wire::SeriesKind::kGauge, {kStartNs}, {value}});
}

void RunBuilder::counter(std::string_view metric, double per_s, std::int64_t end_ns, std::string_view label) {
  const double seconds = static_cast<double>(end_ns - kStartNs) / 1e9;
  run.series.push_back({std::string(metric),
                        std::string(label),
                        "",
                        wire::SeriesKind::kCounter,
                        {kStartNs, end_ns},
                        {0, per_s * seconds}});
}

record::Run RunBuilder::take() {
  for (record::RankRecords& rank : run.ranks) {
    std::ranges::stable_sort(rank.batches, {}, [](const auto& batch) { return batch.record.put_ns; });
    std::ranges::stable_sort(rank.nexts, {}, [](const auto& next) { return next.record.begin_ns; });
  }
  return std::move(run);
}

}  // namespace fullbore::diagnose::testing
