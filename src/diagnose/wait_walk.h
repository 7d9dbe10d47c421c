// The exact walk: for every instant that the loop waited for batch i, what the worker that made batch i was doing then.
// It needs no model and comes before any rule on averages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/iterations.h"
#include "diagnose/makers.h"
#include "diagnose/spans.h"

namespace fullbore::diagnose {

enum class Doing { kFetch, kCollate, kHandoff, kIndex, kSampler, kStart, kUnknown };

struct Spent {
  double ns = 0;
  double timed_ns = 0;  // of ns, where on-CPU and runnable are known
  double cpu_ns = 0;
  double runq_ns = 0;
};

// One batch that had to be waited for because of one sample.
struct SlowSample {
  std::int64_t index = wire::kUnknown;  // in the dataset
  double ms = 0;
  std::int64_t begin_ns = 0;
  std::int32_t worker = wire::kUnknown32;
};

struct WaitWalk {
  std::map<Doing, Spent> steady;  // sums to wait_ns
  std::map<Doing, Spent> whole;   // of all waits after warm-up, first ones of an epoch included
  // Of kHandoff in these two, by what the worker that hands over did meanwhile: it was making its next batch.
  std::map<Doing, Spent> steady_behind, whole_behind;
  double slow_behind_ns = 0;                 // of steady_behind, as slow_sample_ns
  std::vector<SlowSample> slow_behind;       // the samples of that
  double wait_ns = 0;                        // of the steady iterations
  double head_of_line_ns = 0;                // of it, while a later batch lay ready
  double slow_sample_ns = 0;                 // of it, spent on what one sample took beyond a typical one
  std::map<std::int32_t, double> by_worker;  // wait_ns by the worker waited for
  std::vector<SlowSample> slow_samples;      // slowest first, at most 100
  std::size_t unmatched = 0;                 // waits whose batch record is not there
  std::size_t matched = 0;

  double spent_ns(Doing doing) const;
};

// A worker hands over in a thread of its own, which needs the interpreter and a core for it. Where that takes far
// longer than the work it has, `handing_ns` per steady wait, it stood behind the batch that the worker was making by
// then: so much of the hand-over is given to that.
void give_back_standing_behind(WaitWalk& walk, double handing_ns);

WaitWalk walk_waits(const Iterations& iterations, const Makers& makers);

}  // namespace fullbore::diagnose
