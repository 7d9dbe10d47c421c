// The workers' own memory grows with every batch: a cache in each of them, or pages that fork shared until somebody
// touched them. Costs nothing until memory is full; then everything, or the run.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kLeastReadings = 3;      // of a worker, the first left out: it is still importing and filling
constexpr double kLeastGrowth = 64 * 1048576;  // per worker: allocators and arenas settle within less
// Of the growth at least so much in each half: one step is a buffer, not a leak.
constexpr double kSteady = 0.3;
// Of the growth, seen in memory that nobody can give back: files that are mapped grow in a process and cost nothing. No
// more than that, because what others take and give back meanwhile is in the same numbers.
constexpr double kPrivate = 0.25;
// Memory that is full later than that is not worth a word today.
constexpr double kHorizonS = 3600;
// Three readings of memory, which is read once a second at least.
constexpr std::int64_t kJustBefore_ns = 3'000'000'000;

struct Growth {
  double bytes = 0;  // of all workers together
  std::int64_t begin_ns = 0, end_ns = 0;
  int workers = 0;
  std::string source;
};

// Worth the name only if it goes on: nullopt where most of it came at once.
std::optional<Growth> growth_of(const record::Series* series) {
  if (series == nullptr || series->value.size() < kLeastReadings + 1) return std::nullopt;
  const double first = series->value[1], middle = series->value[1 + (series->value.size() - 1) / 2];
  const double last = series->value.back();
  if (last - first < kLeastGrowth) return std::nullopt;
  if (std::min(middle - first, last - middle) < kSteady * (last - first)) return std::nullopt;
  return Growth{last - first, series->time_ns[1], series->time_ns.back(), 1, ""};
}

std::set<std::uint32_t> worker_pids(const Situation& situation) {
  std::set<std::uint32_t> pids;
  for (const Maker& maker : situation.makers.workers) {
    if (maker.worker != wire::kUnknown32 && !maker.made.empty()) pids.insert(maker.made.back().pid);
  }
  return pids;
}

// By each worker's proportional share of memory where it was read often enough, else by its resident memory.
Growth workers_growth(const Situation& situation) {
  Growth sum;
  for (const std::uint32_t pid : worker_pids(situation)) {
    auto one = growth_of(situation.run->find("process.pss_bytes", std::to_string(pid)));
    const bool shared_out = one.has_value();
    if (!one) one = growth_of(situation.run->find("process.rss_bytes", std::to_string(pid)));
    if (!one || one->end_ns <= one->begin_ns) continue;
    sum.begin_ns = sum.workers == 0 ? one->begin_ns : std::min(sum.begin_ns, one->begin_ns);
    sum.end_ns = std::max(sum.end_ns, one->end_ns);
    sum.bytes += one->bytes;
    ++sum.workers;
    sum.source = shared_out ? "/proc/PID/smaps_rollup" : "/proc/PID/stat";
  }
  return sum;
}

// Shortly before; after the last of the workers' readings they may have ended.
std::optional<double> just_before(const Situation& situation, const char* metric, std::int64_t time_ns) {
  return mean_in(situation.run->find(metric), time_ns - kJustBefore_ns, time_ns);
}

// Anonymous memory of the control group, or what the machine has less of.
double private_growth(const Situation& situation, const Growth& growth) {
  const auto risen = [&](const char* metric) {
    const auto first = just_before(situation, metric, growth.begin_ns);
    const auto last = just_before(situation, metric, growth.end_ns);
    return first && last ? *last - *first : 0;
  };
  return std::max(risen("cgroup.memory_anon_bytes"), -risen("memory.available_bytes"));
}

// What was left at the last reading.
std::optional<double> room(const Situation& situation, const Growth& growth) {
  std::optional<double> left = just_before(situation, "memory.available_bytes", growth.end_ns);
  const auto anon = just_before(situation, "cgroup.memory_anon_bytes", growth.end_ns);
  if (situation.resources.memory_limit && anon)
    left = std::min(left.value_or(1e18), std::max(0.0, *situation.resources.memory_limit - *anon));
  return left;
}

}  // namespace

std::optional<Cause> worker_memory_growth(const Situation& situation) {
  if (!has_workers(situation)) return std::nullopt;
  const Growth growth = workers_growth(situation);
  if (growth.workers == 0 || private_growth(situation, growth) < kPrivate * growth.bytes) return std::nullopt;
  const double seconds = static_cast<double>(growth.end_ns - growth.begin_ns) / 1e9;
  const double per_s = growth.bytes / seconds;
  const auto left = room(situation, growth);
  const bool full = memory_short(situation) && waits(situation);
  if (!full && (!left || *left > kHorizonS * per_s)) return std::nullopt;

  Cause cause = make_cause("worker_memory_growth", full ? situation.wait_share() : 0, situation);
  if (!full) {
    const double minutes = *left / per_s / 60;
    cause.severity = minutes <= 10 ? Severity::kWarning : Severity::kNote;
    cause.cost =
        fmt::format("memory is full in about {:.0f} minute{}", std::max(1.0, minutes), minutes < 1.5 ? "" : "s");
  }
  cause.summary = fmt::format("{} of {} workers grow{} by {:.0f} MiB a minute together{}; {}.", growth.workers,
                              *situation.loader.workers, growth.workers == 1 ? "s" : "", per_s * 60 / 1048576,
                              in_place(situation.loader.where),
                              full ? "memory is full, and what is taken away has to be brought back" : cause.cost);
  add_evidence(cause, "growth of the workers", growth.bytes / 1048576, "MiB", growth.source);
  add_evidence(cause, "within", seconds, "s", growth.source);
  add_evidence(cause, "memory left then", left ? std::optional(*left / 1048576) : std::nullopt, "MiB",
               situation.resources.memory_limit ? "cgroup memory limit" : "/proc/meminfo");
  cause.fix.text =
      "keep no samples in the dataset object (each worker has a copy of it: map one file instead, or bound the cache); "
      "hold long lists as arrays (numpy, pyarrow), not as Python objects, whose pages are copied once they are touched";
  cause.fix.where = std::nullopt;
  cause.fix.risk = "none for results";
  cause.why_not.push_back("fewer workers: it takes longer, and memory is full all the same");
  return cause;
}

}  // namespace fullbore::diagnose
