// How far off a prediction may be; see predict.h.
#include <algorithm>
#include <cmath>
#include <vector>

#include "diagnose/replay/predict.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose::replay {
namespace {

constexpr std::size_t kStepsPerRound = 120;
constexpr double kTwoSided95 = 1.96;
// Of the time that a change removes: the typical error of predictions against runs that had the change
// (docs/design/008-replay.md).
constexpr double kModelError = 0.05;
// Of the step after it, where batches were never passed between processes and it is not known what that costs.
constexpr double kUnseenHandoff = 0.10;

// Standard deviation of the step after the change, over draws of the recorded costs.
double spread_of(const Calibration& calibration, const Change& change) {
  const Loop changed = apply(*calibration.loop, change);
  const bool edges = at_edges(change);
  std::vector<double> ratios;
  for (int round = 1; round <= kRounds; ++round) {
    const Draw draw{static_cast<std::uint64_t>(round), kStepsPerRound};
    const Outcome now = simulate(*calibration.loop, draw), then = simulate(changed, draw);
    const double before = edges ? now.whole_ms : now.step_ms;
    const double after = edges ? whole_after(calibration, now, then) : step_after(calibration, now, then);
    if (before > 0) ratios.push_back(after / before);
  }
  const double average = mean(ratios).value_or(0);
  double squares = 0;
  for (const double ratio : ratios) squares += (ratio - average) * (ratio - average);
  const double deviation = ratios.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(ratios.size() - 1));
  // A round is shorter than the run: the run's own mean is better known than a round's.
  const double longer = static_cast<double>(std::max<std::size_t>(1, calibration.loop->steps)) / kStepsPerRound;
  return deviation / std::sqrt(std::max(0.25, longer));
}

}  // namespace

Interval interval_of(const Calibration& calibration, const Change& change, const Prediction& prediction) {
  const double before = prediction.before_ms, after = prediction.after_ms;
  const double removed = std::abs(before - after);
  const double missed = at_edges(change) ? calibration.loop->whole_ms - calibration.now.whole_ms
                                         : calibration.loop->step_ms - calibration.now.step_ms;
  const bool unseen = calibration.loop->workers == 0 && change.workers.value_or(0) > 0;
  double variance = std::pow(spread_of(calibration, change) * before, 2) + std::pow(kModelError * removed, 2);
  // What the replay of the present missed was taken to shrink with the wait; it need not.
  variance += std::pow(missed * std::min(1.0, removed / before) / kTwoSided95, 2);
  if (unseen) variance += std::pow(kUnseenHandoff * after, 2);
  const double margin = kTwoSided95 * std::sqrt(variance);
  return {before / (after + margin), before / std::max(after - margin, 0.05 * after)};
}

}  // namespace fullbore::diagnose::replay
