// Point replays, pairs, worker counts and the limit that comes next; see predict.h.
#include "diagnose/replay/predict.h"

#include <algorithm>
#include <vector>

namespace fullbore::diagnose::replay {
namespace {

constexpr double kAsGood = 1.03;
// A loader that only just keeps up does not, once its samples take a little longer than those seen.
constexpr double kMargin = 1.1;
constexpr double kWaits = 0.05;  // of a step
constexpr double kFull = 0.9;    // of a resource

template <typename T>
bool agree(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}

template <typename T>
void take(std::optional<T>& into, const std::optional<T>& from) {
  if (from) into = from;
}

std::vector<int> worker_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count += std::max(1, count / 6)) counts.push_back(count);
  counts.push_back(std::max(1, most));
  return counts;
}

}  // namespace

std::optional<Prediction> predict(const Calibration& calibration, const Change& change) {
  if (change == Change{} || !calibration.explains()) return std::nullopt;
  const bool edges = at_edges(change);
  if (edges && !calibration.explains_whole()) return std::nullopt;
  Prediction prediction;
  prediction.outcome = simulate(apply(*calibration.loop, change), {});
  if (prediction.outcome.step_ms <= 0) return std::nullopt;
  if (edges) {
    prediction.before_ms = calibration.loop->whole_ms;
    prediction.after_ms = whole_after(calibration, calibration.now, prediction.outcome);
  } else {
    prediction.before_ms = calibration.loop->step_ms;
    prediction.after_ms = step_after(calibration, calibration.now, prediction.outcome);
  }
  return prediction;
}

std::optional<Change> both(const Change& a, const Change& b) {
  if (!agree(a.workers, b.workers) || !agree(a.prefetch, b.prefetch) || !agree(a.persistent, b.persistent) ||
      !agree(a.cores, b.cores) || !agree(a.even_worker, b.even_worker))
    return std::nullopt;
  Change change = a;
  take(change.workers, b.workers);
  take(change.prefetch, b.prefetch);
  take(change.persistent, b.persistent);
  take(change.cores, b.cores);
  take(change.even_worker, b.even_worker);
  change.even_samples = a.even_samples || b.even_samples;
  for (const auto factor : {&Change::sample_cpu, &Change::sample_blocked, &Change::device_bytes, &Change::collate,
                            &Change::handoff, &Change::pin, &Change::sampler, &Change::start})
    change.*factor *= b.*factor;
  change.body_less_ms += b.body_less_ms;
  change.pause_less_ms += b.pause_less_ms;
  change.words = a.words + " and " + b.words;
  return change;
}

int fewest_workers(const Calibration& calibration, int most) {
  std::vector<std::pair<int, double>> steps;
  double best = 1e300;
  for (const int workers : worker_counts(most)) {
    Change change;
    change.workers = workers;
    change.sample_cpu = change.sample_blocked = kMargin;
    const Outcome outcome = simulate(apply(*calibration.loop, change), {});
    steps.emplace_back(workers, step_after(calibration, calibration.now, outcome));
    best = std::min(best, steps.back().second);
  }
  return std::ranges::find_if(steps, [&](const auto& step) { return step.second <= kAsGood * best; })->first;
}

NextLimit limit_of(const Loop& loop, const Outcome& outcome) {
  NextLimit next;
  next.step_ms = outcome.step_ms;
  next.wait_share = outcome.step_ms > 0 ? outcome.wait_ms / outcome.step_ms : 0;
  if (next.wait_share < kWaits)
    next.limit = "model";
  else if (outcome.device_busy >= kFull)
    next.limit = "storage";
  else if (outcome.cores_busy >= kFull)
    next.limit = "cores";
  else if (loop.workers == 0)
    next.limit = "no_workers";
  else if (outcome.pin_busy >= kFull)
    next.limit = "pin_thread";
  else if (outcome.workers_busy >= kFull)
    next.limit = "workers";
  else
    next.limit = outcome.in_line >= 0.5 ? "order" : "handoff";
  return next;
}

}  // namespace fullbore::diagnose::replay
