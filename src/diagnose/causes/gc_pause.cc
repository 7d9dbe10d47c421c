// Python's garbage collector stops the training thread again and again. Judged on the whole run.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Collections {
  int count = 0;
  int full = 0;  // of the oldest generation: all objects are looked at
  double longest_ms = 0;
  std::optional<Location> asked_for;  // by the script, with gc.collect()
};

Collections find_collections(const Situation& situation) {
  Collections found;
  for (const auto* interval : intervals_of(situation, wire::IntervalKind::kGarbageCollection)) {
    ++found.count;
    found.full += situation.run->name(interval->name) == "generation 2" ? 1 : 0;
    found.longest_ms = std::max(found.longest_ms, static_cast<double>(interval->end_ns - interval->begin_ns) / 1e6);
  }
  for (const Callee& callee : situation.profile.loop.callees) {
    if (callee.name == "gc.collect" && !found.asked_for) found.asked_for = callee.where;
  }
  return found;
}

}  // namespace

std::optional<Cause> gc_pause(const Situation& situation) {
  const double share = situation.whole.share(Claim::kGarbageCollection);
  const Collections found = find_collections(situation);
  if (share < kNoteShare || found.count < 2) return std::nullopt;

  Cause cause = make_cause("gc_pause", share, situation);
  cause.where = cause.fix.where = found.asked_for;
  cause.gain = bound_without(share);
  cause.change = without(Claim::kGarbageCollection, situation, "without collections");
  const double each_ms = situation.whole.claim_ns(Claim::kGarbageCollection) / 1e6 / found.count;
  cause.summary = fmt::format(
      "Python collects garbage in the training thread {} times, {} each{}: {} of all time; without it training would "
      "be "
      "{}.",
      found.count, milliseconds(each_ms),
      found.asked_for ? fmt::format(", because gc.collect() is called ({})", place(found.asked_for)) : "",
      percent(share), kFasterHere);
  add_evidence(cause, "collections of 1 ms or more", found.count, "", "gc.callbacks");
  add_evidence(cause, "of them of all objects", found.full, "", "gc.callbacks");
  add_evidence(cause, "longest", found.longest_ms, "ms", "gc.callbacks");
  add_evidence(cause, "of all time", share, "share", "gc.callbacks");
  cause.fix.text =
      found.asked_for
          ? "call gc.collect() where training stands still anyway, at the end of an epoch, or not at all"
          : "keep what lives for ever out of collections: gc.collect(); gc.freeze() once before the loop, and "
            "gc.set_threshold(50_000, 20, 100); with many objects per batch, hand over fewer (tensors, arrays)";
  cause.fix.risk = "memory held by reference cycles is freed later";
  cause.why_not.push_back("gc.disable() for good: whatever the script leaves in cycles would grow without end");
  return cause;
}

}  // namespace fullbore::diagnose
