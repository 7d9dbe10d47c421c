// Facts of a loader from its LoaderRecord, its last IteratorRecord (the worker count that it really has) and its
// batches.
#include "diagnose/loader_facts.h"

#include <vector>

#include "diagnose/ownership.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

std::optional<std::int64_t> known(std::int64_t value) {
  return value == wire::kUnknown ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> known32(std::int32_t value) {
  return value == wire::kUnknown32 ? std::nullopt : std::optional<std::int64_t>(value);
}

std::string start_method_name(wire::StartMethod method) {
  switch (method) {
    case wire::StartMethod::kUnspecified:
      return "";
    case wire::StartMethod::kFork:
      return "fork";
    case wire::StartMethod::kSpawn:
      return "spawn";
    case wire::StartMethod::kForkserver:
      return "forkserver";
    case wire::StartMethod::kThread:
      return "thread";
  }
  return "";
}

void describe_record(const record::Run& run, const wire::LoaderRecord& record, LoaderFacts& facts) {
  if (record.line != wire::kUnknown32)
    facts.where = Location{std::string(run.name(record.file)), record.line, std::string(run.name(record.code))};
  facts.dataset_type = run.name(record.dataset_type);
  facts.collate = run.name(record.collate);
  facts.start_method = start_method_name(record.start_method);
  facts.dataset_length = known(record.dataset_length);
  facts.batches = known(record.batches);
  facts.batch_size = known32(record.batch_size);
  facts.workers = known32(record.workers);
  facts.prefetch_factor = known32(record.prefetch_factor);
  facts.pin_memory = (record.flags & wire::kPinMemory) != 0;
  facts.persistent_workers = (record.flags & wire::kPersistentWorkers) != 0;
  facts.drop_last = (record.flags & wire::kDropLast) != 0;
  facts.iterable = (record.flags & wire::kIterableDataset) != 0;
}

void describe_tensor(const record::Run& run, const Trainer& trainer, LoaderFacts& facts) {
  for (const auto& tensor : trainer.rank->batch_tensors) {
    if (tensor.pid != trainer.pid || !trainer.trains_with(tensor.record.loader)) continue;
    facts.dtype = run.name(tensor.record.dtype);
    facts.tensor_mb = static_cast<double>(tensor.record.bytes) / 1e6;
    facts.shape.clear();
    for (const std::int64_t size : tensor.record.shape) {
      if (size != wire::kUnknown) facts.shape.push_back(size);
    }
  }
}

// From the sampled records; the collector keeps a reservoir and the slowest, so the p99 comes from the batches' slowest
// samples when there are too few.
void describe_samples(const Trainer& trainer, const Makers& makers, LoaderFacts& facts) {
  std::vector<double> wall_ms;
  const Ownership ownership(trainer);
  for (const auto& sample : trainer.rank->samples) {
    if (ownership.owns(sample.pid, sample.record.loader) && sample.record.wall_ns >= 0)
      wall_ms.push_back(static_cast<double>(sample.record.wall_ns) / 1e6);
  }
  if (wall_ms.size() >= 20) {
    facts.sample_ms_p50 = quantile(wall_ms, 0.5);
    facts.sample_ms_p99 = quantile(std::move(wall_ms), 0.99);
  } else if (makers.sample_ns) {
    facts.sample_ms_p50 = *makers.sample_ns / 1e6;
  }
  facts.sample_cpu_share = makers.cpu_share();
  facts.batch_ms = makers.batch_ms();
  if (facts.workers.value_or(0) > 0) facts.worker_busy = makers.busy;
}

void describe_stages(const Makers& makers, const Profile& profile, LoaderFacts& facts) {
  if (makers.totals.samples <= 0) return;
  const double fetch_ms = makers.totals.fetch_ns / 1e6 / makers.totals.samples;
  if (profile.dataset.measured()) {
    for (const auto& [stage, share] : profile.dataset.stages)
      facts.stage_ms.emplace_back(stage_name(stage), share * fetch_ms);
  } else {
    facts.stage_ms.emplace_back("fetch", fetch_ms);
  }
  facts.stage_ms.emplace_back("collate", makers.totals.collate_ns / 1e6 / makers.totals.samples);
}

}  // namespace

LoaderFacts describe_loader(const record::Run& run, const Trainer& trainer, const Makers& makers,
                            const Profile& profile) {
  LoaderFacts facts;
  if (trainer.loop != LoopKind::kLoader) return facts;
  if (const auto* record = training_loader(trainer)) describe_record(run, *record, facts);
  if (!trainer.iterators.empty() && trainer.iterators.back()->workers != wire::kUnknown32)
    facts.workers = trainer.iterators.back()->workers;
  std::vector<double> megabytes;
  for (const auto* next : trainer.nexts) {
    if (next->batch_bytes != wire::kUnknown) megabytes.push_back(static_cast<double>(next->batch_bytes) / 1e6);
  }
  facts.batch_mb = median(std::move(megabytes));
  describe_tensor(run, trainer, facts);
  describe_samples(trainer, makers, facts);
  describe_stages(makers, profile, facts);
  return facts;
}

}  // namespace fullbore::diagnose
