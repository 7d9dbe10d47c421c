// Sorts batch records by worker and sums them up; see makers.h.
#include "diagnose/makers.h"

#include <algorithm>
#include <map>

#include "diagnose/ownership.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

bool sane(const wire::BatchRecord& batch) {
  return batch.begin_ns <= batch.fetched_ns && batch.fetched_ns <= batch.collated_ns &&
         batch.collated_ns <= batch.put_ns;
}

// Without the slowest sample, so that a heavy tail does not pass for slow work.
std::optional<double> typical_sample_ns(const wire::BatchRecord& batch) {
  if (batch.samples == wire::kUnknown32 || batch.samples <= 0) return std::nullopt;
  const double fetch = static_cast<double>(batch.fetched_ns - batch.begin_ns);
  if (batch.samples == 1 || batch.slowest_ns == wire::kUnknown) return fetch / batch.samples;
  return std::max(0.0, fetch - static_cast<double>(batch.slowest_ns)) / (batch.samples - 1);
}

void add_known(std::optional<double>& sum, std::int64_t value) {
  if (value != wire::kUnknown) sum = sum.value_or(0) + static_cast<double>(value);
}

void add(const wire::BatchRecord& batch, MakerTotals& totals) {
  ++totals.batches;
  if (batch.samples != wire::kUnknown32) totals.samples += batch.samples;
  totals.making_ns += static_cast<double>(batch.put_ns - batch.begin_ns);
  totals.fetch_ns += static_cast<double>(batch.fetched_ns - batch.begin_ns);
  totals.collate_ns += static_cast<double>(batch.collated_ns - batch.fetched_ns);
  if (batch.cpu_ns != wire::kUnknown && batch.runq_ns != wire::kUnknown) {
    totals.timed_ns += static_cast<double>(batch.collated_ns - batch.begin_ns);
    totals.cpu_ns += static_cast<double>(batch.cpu_ns);
    totals.runq_ns += static_cast<double>(batch.runq_ns);
  }
  add_known(totals.read_chars, batch.read_chars);
  add_known(totals.read_bytes, batch.read_bytes);
  add_known(totals.major_faults, batch.major_faults);
}

// Traced batches take longer than others. They are left out unless they are most of what there is.
bool mostly_traced(const Maker& maker) {
  const auto traced =
      std::ranges::count_if(maker.made, [](const Made& m) { return (m.batch->flags & wire::kTraced) != 0; });
  return traced * 3 > static_cast<std::ptrdiff_t>(maker.made.size()) * 2;
}

// Of waiting for an index, what the loop could have asked for one in.
double waited_ns(const wire::BatchRecord& batch, const Spans& pauses) {
  const std::int64_t idle_ns = std::max<std::int64_t>(0, batch.idle_ns);
  return static_cast<double>(idle_ns) - length_within_ns(pauses, batch.begin_ns - idle_ns, batch.begin_ns);
}

void judge(Maker& maker, const Iterations& iterations, const Spans& pauses, MakerTotals& totals) {
  const std::int64_t begin = iterations.whole_begin_ns, end = iterations.whole_end_ns;
  const std::uint32_t left_out = mostly_traced(maker) ? 0u : static_cast<std::uint32_t>(wire::kTraced);
  const std::int64_t middle = begin + (end - begin) / 2;
  double busy_ns = 0, idle_ns = 0;
  bool idle_known = true;
  std::vector<double> samples, halves[2];
  std::uint32_t pid = 0;
  for (const Made& made : maker.made) {
    const bool first = made.pid != pid;  // its idle time is start-up
    pid = made.pid;
    if (made.batch->put_ns < begin || made.batch->begin_ns > end || (made.batch->flags & left_out) != 0) continue;
    add(*made.batch, totals);
    busy_ns += static_cast<double>(made.batch->put_ns - made.batch->begin_ns);
    if (made.batch->idle_ns == wire::kUnknown)
      idle_known = false;
    else if (!first)
      idle_ns += waited_ns(*made.batch, pauses);
    if (const auto typical = typical_sample_ns(*made.batch)) {
      samples.push_back(*typical);
      halves[made.batch->begin_ns < middle ? 0 : 1].push_back(*typical);
    }
  }
  if (idle_known && busy_ns > 0) maker.busy = busy_ns / (busy_ns + idle_ns);
  maker.sample_ns = median(std::move(samples));
  for (int half = 0; half < 2; ++half) maker.sample_ns_halves[half] = median(std::move(halves[half]));
}

std::optional<double> mean_of(const std::vector<Maker>& workers, std::optional<double> Maker::* field) {
  std::vector<double> values;
  for (const Maker& maker : workers) {
    if (maker.*field) values.push_back(*(maker.*field));
  }
  return mean(values);
}

}  // namespace

std::optional<double> Makers::cpu_share() const {
  if (totals.timed_ns <= 0) return std::nullopt;
  return std::min(1.0, totals.cpu_ns / totals.timed_ns);
}

std::optional<double> Makers::runnable_share() const {
  if (totals.timed_ns <= 0) return std::nullopt;
  return std::min(1.0, totals.runq_ns / totals.timed_ns);
}

std::optional<double> Makers::blocked_share() const {
  if (totals.timed_ns <= 0) return std::nullopt;
  return std::clamp(1.0 - (totals.cpu_ns + totals.runq_ns) / totals.timed_ns, 0.0, 1.0);
}

std::optional<double> Makers::batch_ms() const {
  if (totals.batches == 0) return std::nullopt;
  return totals.making_ns / 1e6 / static_cast<double>(totals.batches);
}

Makers collect_makers(const Trainer& trainer, const Iterations& iterations, const Spans& pauses) {
  Makers makers;
  const Ownership ownership(trainer);
  std::map<std::int32_t, Maker> by_worker;
  for (const auto& batch : trainer.rank->batches) {
    if (ownership.owns(batch.pid, batch.record.loader) && sane(batch.record))
      by_worker[batch.record.worker].made.push_back({&batch.record, batch.pid});
  }
  for (auto& [worker, maker] : by_worker) {
    maker.worker = worker;
    std::ranges::stable_sort(maker.made, {}, [](const Made& made) { return made.batch->begin_ns; });
    judge(maker, iterations, pauses, makers.totals);
    makers.workers.push_back(std::move(maker));
  }
  makers.busy = mean_of(makers.workers, &Maker::busy);
  std::vector<double> typical;
  for (const Maker& maker : makers.workers) {
    if (maker.sample_ns) typical.push_back(*maker.sample_ns);
  }
  makers.sample_ns = median(std::move(typical));
  return makers;
}

}  // namespace fullbore::diagnose
