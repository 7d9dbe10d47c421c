// A few samples take many times as long as the rest, in any worker: one of them holds up its whole batch, and in order
// of delivery all batches behind it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

constexpr double kShareOfWait = 0.3;
constexpr std::size_t kLeastSamples = 3;

bool across_workers(const Situation& situation) {
  std::set<std::int32_t> workers;
  for (const SlowSample& sample : situation.walk.slow_samples) workers.insert(sample.worker);
  return workers.size() > 1 || situation.makers.workers.size() < 2;
}

std::string indices(const std::vector<SlowSample>& samples) {
  std::string text;
  std::set<std::int64_t> named;
  for (const SlowSample& sample : samples) {
    if (sample.index == wire::kUnknown || named.size() == 3 || !named.insert(sample.index).second) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", sample.index, milliseconds(sample.ms));
  }
  return text;
}

}  // namespace

std::optional<Cause> slow_samples(const Situation& situation) {
  const WaitWalk& walk = situation.walk;
  if (!waits(situation) || walk.slow_samples.size() < kLeastSamples || !across_workers(situation)) return std::nullopt;
  if (slow_maker(situation) != nullptr || walk.slow_sample_ns < kShareOfWait * walk.wait_ns) return std::nullopt;
  // One that is read from the device among others that are in memory is slow, and not by its own fault.
  if (storage_explains(situation)) return std::nullopt;
  const double share = walk.slow_sample_ns / situation.steady.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("slow_samples", share, situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(share);
  cause.change.even_samples = true;
  cause.change.words = "with typical samples in their place";
  const double typical_ms = *situation.makers.sample_ns / 1e6;
  const std::string named = indices(walk.slow_samples);
  const ProfiledLine* line = situation.stage_line(cause.stage);
  if (line != nullptr) cause.where = line->where;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for a few slow samples: up to {} where a typical one takes {}{}; "
      "without them training would be {}.",
      percent(share), milliseconds(walk.slow_samples.front().ms), milliseconds(typical_ms),
      named.empty() ? "" : ", dataset index " + named, kFasterHere);
  add_evidence(cause, "slowest sample", walk.slow_samples.front().ms, "ms", "hook");
  add_evidence(cause, "typical sample", typical_ms, "ms", "hook");
  add_evidence(cause, "batches held up by one sample", static_cast<double>(walk.slow_samples.size()), "", "hook");
  add_evidence(cause, "wait with a later batch already there", walk.head_of_line_ns / std::max(1.0, walk.wait_ns),
               "share", "hook");
  add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  cause.fix.text = named.empty()
                       ? "find the slow samples (their source is not indexed) and make them cheaper ahead of training"
                       : "look at the samples named here: make them cheaper ahead of training (smaller, shorter, "
                         "cached), or leave them out";
  cause.fix.text += "; where order does not matter, in_order=False (torch 2.6 and newer) lets finished batches pass";
  cause.fix.risk = "leaving samples out changes the data; in_order=False changes the order of batches";
  if (has_workers(situation) && waits_in_line(situation))
    cause.why_not.push_back("more workers: finished batches already wait in line behind the slow one");
  return cause;
}

}  // namespace fullbore::diagnose
