// See predict_gains.h.
#include "diagnose/predict_gains.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/gain.h"
#include "diagnose/replay/predict.h"

namespace fullbore::diagnose {
namespace {

constexpr double kTie = 0.03;
constexpr double kLeastGain = 1.03;
constexpr std::size_t kWithInterval = 3;
constexpr double kMoreThanOne = 1.03;  // times the better of the two

// Of what the cause costs as much as its change removes. A change may remove more than that, as where samples are made
// at half their cost on cores that are full for another reason; that is no merit of the cause.
double removed_share(const Cause& cause) {
  if (!cause.gain.predicted) return cause.share;
  return std::min(cause.share, 1 - 1 / std::max(1.0, *cause.gain.predicted));
}

// The share of a cause is its part of the wait. Where making is partly hidden, taking that part away can uncover less
// of the rest than its share says, so only the whole wait bounds it.
void widen_bound(const Situation& situation, Cause& cause) {
  if (!cause.gain.max || replay::at_edges(cause.change) || cause.share >= situation.wait_share()) return;
  cause.gain.max = std::max(*cause.gain.max, *bound_without(situation.wait_share()).max);
}

void predict_point(const replay::Calibration& calibration, const Change& change, Gain& gain) {
  const auto prediction = replay::predict(calibration, change);
  if (!prediction) return;
  gain.kind = "replay";
  gain.with = change.words;
  gain.predicted = std::min(prediction->gain(), gain.max.value_or(1e9));
}

void add_interval(const replay::Calibration& calibration, const Change& change, Gain& gain) {
  const auto prediction = gain.predicted ? replay::predict(calibration, change) : std::nullopt;
  if (!prediction) return;
  const replay::Interval interval = replay::interval_of(calibration, change, *prediction);
  gain.low = std::min(interval.low, *gain.predicted);
  gain.high = std::clamp(interval.high, *gain.predicted, std::max(*gain.predicted, gain.max.value_or(1e9)));
}

// The best two of the first causes, if they gain more together than the better of them alone.
std::optional<Pair> best_pair(const replay::Calibration& calibration, const std::vector<Cause>& causes) {
  const std::size_t count = std::min(causes.size(), kWithInterval);
  std::optional<Pair> best;
  Change best_change;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const auto change = replay::both(causes[i].change, causes[j].change);
      if (!causes[i].gain.predicted || !causes[j].gain.predicted || !change) continue;
      Pair pair{causes[i].cause, causes[j].cause, {}};
      predict_point(calibration, *change, pair.gain);
      const double alone = std::max(*causes[i].gain.predicted, *causes[j].gain.predicted);
      const double together = pair.gain.predicted.value_or(0);
      if (together < kMoreThanOne * alone || (best && together <= *best->gain.predicted)) continue;
      best = std::move(pair);
      best_change = *change;
    }
  }
  if (best) add_interval(calibration, best_change, best->gain);
  return best;
}

bool in_pair(const std::optional<Pair>& pair, const Cause& cause) {
  return pair && (pair->first == cause.cause || pair->second == cause.cause);
}

void leave_out_what_gains_nothing(const ReplayFacts& facts, std::vector<Cause>& causes) {
  const auto useless = [&](const Cause& cause) { return !is_advice(cause.gain) && !in_pair(facts.pair, cause); };
  if (!std::ranges::all_of(causes, useless)) std::erase_if(causes, useless);
}

}  // namespace

bool is_advice(const Gain& gain) {
  return gain.low.value_or(gain.predicted.value_or(kLeastGain)) >= kLeastGain;
}

void rank_causes(std::vector<Cause>& causes) {
  for (auto place = causes.begin(); place != causes.end(); ++place) {
    const auto most = std::max_element(
        place, causes.end(), [](const Cause& a, const Cause& b) { return removed_share(a) < removed_share(b); });
    const double share = removed_share(*most);
    const auto chosen =
        std::find_if(place, causes.end(), [&](const Cause& cause) { return removed_share(cause) >= share - kTie; });
    std::rotate(place, chosen, std::next(chosen));
  }
}

ReplayFacts predict_gains(const Situation& situation, std::vector<Cause>& causes) {
  const replay::Calibration& calibration = situation.replay;
  ReplayFacts facts;
  facts.why = calibration.why;
  if (calibration.loop) {
    facts.replayed_ms = calibration.now.step_ms;
    facts.error = calibration.error;
  }
  for (Cause& cause : causes) {
    if (calibration.explains() && cause.change != Change{}) widen_bound(situation, cause);
    predict_point(calibration, cause.change, cause.gain);
  }
  rank_causes(causes);
  if (!calibration.explains() || causes.empty()) return facts;
  for (std::size_t i = 0; i < std::min(causes.size(), kWithInterval); ++i)
    add_interval(calibration, causes[i].change, causes[i].gain);
  facts.pair = best_pair(calibration, causes);
  leave_out_what_gains_nothing(facts, causes);
  const Change& first = causes.front().change;
  const auto after = replay::predict(calibration, first);
  if (!after) return facts;
  facts.next = replay::limit_of(replay::apply(*calibration.loop, first), after->outcome);
  facts.next->step_ms = replay::step_after(calibration, calibration.now, after->outcome);
  return facts;
}

}  // namespace fullbore::diagnose
