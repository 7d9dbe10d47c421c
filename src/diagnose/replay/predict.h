// What a change gains, by replaying the loop with it: one figure, its interval, and what the changed loop waits for
// then.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/replay/calibration.h"

namespace fullbore::diagnose::replay {

struct Prediction {
  double before_ms = 0, after_ms = 0;  // of the steady step, or of the whole run's for changes at the edges
  Outcome outcome;                     // of the changed loop

  double gain() const { return before_ms / after_ms; }
};

// nullopt where the replay does not explain the run (for changes at the edges: the whole run), or nothing is changed.
std::optional<Prediction> predict(const Calibration& calibration, const Change& change);

struct Interval {
  double low = 0, high = 0;  // of the gain, 95 %
};

// From kRounds bootstrap replays, with what the replay of the present settings missed and what is not known about a
// loader that had no workers.
inline constexpr int kRounds = 200;
Interval interval_of(const Calibration& calibration, const Change& change, const Prediction& prediction);

// Both changes at once; nullopt if they want different values of the same setting.
std::optional<Change> both(const Change& a, const Change& b);

// The fewest workers, at most `most`, with which the step is within 3 % of the shortest that any number gives.
int fewest_workers(const Calibration& calibration, int most);

// What limits that loop.
NextLimit limit_of(const Loop& loop, const Outcome& outcome);

}  // namespace fullbore::diagnose::replay
