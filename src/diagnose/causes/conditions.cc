// Thresholds of judging in one place; docs/causes.md explains them.
#include "diagnose/causes/conditions.h"

#include <algorithm>
#include <vector>

#include "diagnose/causes/storage_conditions.h"
#include "diagnose/gain.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

constexpr double kMakingShare = 0.5;
constexpr double kBlockedShare = 0.5;
// One core, less what the collector, the kernel and the training thread's own bookkeeping take.
constexpr double kFreeCore = 0.7;
constexpr double kThrottledPeriods = 0.1;
constexpr double kOpenShare = 0.4;
constexpr double kFilesShare = 0.5;
constexpr double kManyFiles = 4;  // opened per sample
constexpr double kSmallFile = 65536;
constexpr double kInLineShare = 0.5;
constexpr double kBusy = 0.9;
constexpr double kSlowWorkerFactor = 2;
constexpr double kDeviceBusy = 0.8;
constexpr double kRunnableShare = 0.25;
constexpr double kLeastGain = 1.05;
// Of a core: a thread that does nothing else still waits for its queue between batches.
constexpr double kPinBusy = 0.8;
// Threads in want of a core, on average: a quarter above the cores cannot be rounding of two samplers' clocks.
constexpr double kOversubscribed = 1.25;
// Of the kernel, for a page that is mapped and zeroed, and given back later: 2.8 to 3.4 us where workers decode
// photographs (docs/performance.md, "Memory that workers give back"), less to be on the safe side.
constexpr double kFaultSeconds = 2.5e-6;
constexpr double kRefetchedShare = 0.10;
// Of a worker: what its other threads want beyond the sending of batches.
constexpr double kHelperShare = 0.25;

std::optional<double> others_sample_ns(const Makers& makers, const Maker& one) {
  std::vector<double> others;
  for (const Maker& maker : makers.workers) {
    if (&maker != &one && maker.sample_ns) others.push_back(*maker.sample_ns);
  }
  return median(std::move(others));
}

}  // namespace

Severity severity_of(double share) {
  if (share >= kCriticalShare) return Severity::kCritical;
  if (share >= kWarningShare) return Severity::kWarning;
  return share >= kNoteShare ? Severity::kNote : Severity::kNone;
}

bool waits(const Situation& situation) {
  if (situation.wait_share() < kNoteShare) return false;
  if (!warmed_up(situation)) return true;
  // What only the first pass waited for belongs to cold_cache.
  const Pass later = later_passes(situation.passes);
  return later.wall_ns <= 0 || later.wait_ns >= kNoteShare * later.wall_ns;
}

bool has_workers(const Situation& situation) {
  return situation.loader.workers.value_or(0) > 0;
}

bool waits_for_making(const Situation& situation) {
  return situation.making_share() >= kMakingShare;
}

bool blocked_mostly(const Situation& situation) {
  return situation.makers.blocked_share().value_or(0) >= kBlockedShare;
}

bool in_training_thread(const Situation& situation) {
  if (situation.loader.workers != 0) return false;
  return blocked_mostly(situation) || *bound_with_cores(situation, situation.wait_share()).max >= kLeastGain;
}

bool core_free(const Situation& situation) {
  return situation.resources.free_cores.value_or(0) >= kFreeCore;
}

bool no_core_free(const Situation& situation) {
  return situation.resources.free_cores && *situation.resources.free_cores < kFreeCore;
}

bool quota_limited(const Situation& situation) {
  const Resources& resources = situation.resources;
  const auto cores = resources.affinity_cores ? resources.affinity_cores : resources.machine_cores;
  return resources.throttled_periods.value_or(0) >= kThrottledPeriods && resources.quota_cores &&
         *resources.quota_cores < cores.value_or(1e9);
}

bool affinity_limited(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (!resources.affinity_cores || !resources.machine_cores || *resources.affinity_cores >= *resources.machine_cores)
    return false;
  // With a quota below the mask the quota is the limit.
  const bool quota_is_lower = resources.quota_cores && *resources.quota_cores < *resources.affinity_cores;
  return no_core_free(situation) && !quota_is_lower && resources.machine_free_cores.value_or(0) >= kFreeCore;
}

bool storage_limited(const Situation& situation) {
  if (!blocked_mostly(situation) || !reads_from_device(situation) || warmed_up(situation)) return false;
  if (memory_short(situation) || set_thrashes(situation) || reads_amplified(situation)) return false;
  if (neighbour_reads(situation) || requests_limited(situation)) return false;
  const Resources& resources = situation.resources;
  if (resources.device_limit_bytes_per_s && resources.device_read_bytes_per_s)
    return *resources.device_read_bytes_per_s >= kDeviceBusy * *resources.device_limit_bytes_per_s;
  // A queue that is never empty: one reader alone keeps a device busy without reaching its limit.
  return resources.device_busy.value_or(0) >= kDeviceBusy && resources.device_queue.value_or(0) >= 1.5;
}

bool opens_dominate(const Situation& situation) {
  const PlaceProfile& samples = situation.profile.dataset;
  const double open = samples.share(wire::Stage::kOpen);
  if (open >= kOpenShare && samples.main_stage() == wire::Stage::kOpen) return true;
  // The first read of a file that is not cached waits for the disk as its opening does: many files of few bytes each.
  const MakerTotals& totals = situation.makers.totals;
  if (samples.opens_per_window < kManyFiles || !totals.read_chars || totals.samples <= 0) return false;
  const double bytes_per_file = *totals.read_chars / totals.samples / samples.opens_per_window;
  return open + samples.share(wire::Stage::kRead) >= kFilesShare && bytes_per_file <= kSmallFile;
}

bool all_busy(const Situation& situation) {
  return situation.makers.busy.value_or(0) >= kBusy;
}

// Workers that are all busy may well finish out of turn: that alone costs nothing, somebody has to idle for it.
bool waits_in_line(const Situation& situation) {
  const WaitWalk& walk = situation.walk;
  return walk.wait_ns > 0 && walk.head_of_line_ns >= kInLineShare * walk.wait_ns && !all_busy(situation);
}

double handing_over(const Situation& situation) {
  if (!has_workers(situation) || situation.steady.total_ns <= 0) return 0;
  double runq_ns = 0, cpu_ns = 0;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr) continue;
    if (iteration.next->runq_ns != wire::kUnknown) runq_ns += static_cast<double>(iteration.next->runq_ns);
    if (iteration.next->cpu_ns != wire::kUnknown) cpu_ns += static_cast<double>(iteration.next->cpu_ns);
  }
  const double way_ns = std::max(0.0, situation.walk.spent_ns(Doing::kHandoff) - runq_ns);
  // Without a free core the worker's thread that sends may have stood in line, too, and nobody measured that: then only
  // what the training thread computes to take a batch is sure.
  return (no_core_free(situation) ? std::min(way_ns, cpu_ns) : way_ns) / situation.steady.total_ns;
}

std::optional<double> refetched_memory_share(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (!has_workers(situation) || !resources.worker_cores || !resources.worker_kernel_cores) return std::nullopt;
  if (!resources.worker_faults_per_s || *resources.worker_cores <= 0 || situation.step_ms() <= 0) return std::nullopt;
  const double batch_pages = situation.loader.batch_mb.value_or(0) * 1e6 / kPageBytes;
  const double of_batches = batch_pages * trainers_on_host(resources) * 1e3 / situation.step_ms();
  const double refetched = std::max(0.0, *resources.worker_faults_per_s - of_batches);
  return std::min(*resources.worker_kernel_cores, refetched * kFaultSeconds) / *resources.worker_cores;
}

std::optional<double> cost_with_kept_memory(const Situation& situation) {
  const auto share = refetched_memory_share(situation);
  return share && *share >= kRefetchedShare ? std::optional(1 - *share) : std::nullopt;
}

bool pin_thread_busy(const Situation& situation) {
  return situation.loader.pin_memory.value_or(false) && situation.resources.pin_busy.value_or(0) >= kPinBusy;
}

std::vector<const wire::IntervalRecord*> intervals_of(const Situation& situation, wire::IntervalKind kind) {
  std::vector<const wire::IntervalRecord*> out;
  const Iterations& iterations = situation.iterations;
  for (const auto& [interval, pid, tid] : situation.trainer->rank->intervals) {
    if (pid != situation.trainer->pid || tid != situation.trainer->tid || interval.kind != kind) continue;
    if (interval.end_ns >= iterations.whole_begin_ns && interval.begin_ns <= iterations.whole_end_ns)
      out.push_back(&interval);
  }
  return out;
}

std::optional<Location> place_of(const Situation& situation, const wire::IntervalRecord& interval) {
  if (interval.line <= 0) return std::nullopt;
  return Location{std::string(situation.run->name(interval.file)), interval.line, ""};
}

const Maker* slow_maker(const Situation& situation) {
  const auto& workers = situation.makers.workers;
  if (!has_workers(situation) || workers.size() < 2) return nullptr;
  const auto slowest = std::ranges::max_element(workers, {}, [](const Maker& m) { return m.sample_ns.value_or(0); });
  const auto others = others_sample_ns(situation.makers, *slowest);
  if (!slowest->sample_ns || !others || *slowest->sample_ns < kSlowWorkerFactor * *others) return nullptr;
  for (const auto& half : slowest->sample_ns_halves) {
    if (half && *half < kSlowWorkerFactor * *others) return nullptr;
  }
  return &*slowest;
}

// Threads in want of a core = on one + waiting for one. The workers' main threads alone would have found room.
bool oversubscribed(const Situation& situation) {
  const Resources& resources = situation.resources;
  if (!has_workers(situation) || crowded(situation) || !resources.usable_cores) return false;
  if (!resources.tree_cores || !resources.runq_cores || !resources.helper_threads) return false;
  if (resources.worker_threads.value_or(0) < kThreadsWithLibrary) return false;
  const double workers = static_cast<double>(*situation.loader.workers);
  const double wanted = *resources.tree_cores + *resources.runq_cores;
  const double mains = resources.main_threads.value_or(wanted - *resources.helper_threads);
  return *resources.helper_threads >= kHelperShare * workers && wanted >= kOversubscribed * *resources.usable_cores &&
         mains < kOversubscribed * *resources.usable_cores;
}

bool crowded(const Situation& situation) {
  const auto cores = situation.resources.rank_cores;
  if (!cores || !has_workers(situation)) return false;
  const double workers = static_cast<double>(*situation.loader.workers);
  return workers >= *cores + 2 && workers >= 1.5 * *cores &&
         situation.makers.runnable_share().value_or(0) >= kRunnableShare;
}

}  // namespace fullbore::diagnose
