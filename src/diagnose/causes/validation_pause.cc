// Training stops for validation. That is work somebody asked for, so it is named only from 10 % on, with what of it is
// itself waiting for its loader.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/changes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

struct Passes {
  int count = 0;
  double wall_ns = 0;
  double wait_ns = 0;
  std::uint32_t loader = 0;  // of the longest
};

Passes find_passes(const Situation& situation) {
  Passes passes;
  std::int64_t longest = -1;
  for (const Validation& validation : situation.trainer->validations) {
    if (validation.end_ns < situation.iterations.whole_begin_ns ||
        validation.begin_ns > situation.iterations.whole_end_ns)
      continue;
    ++passes.count;
    passes.wall_ns += static_cast<double>(validation.end_ns - validation.begin_ns);
    passes.wait_ns += static_cast<double>(validation.wait_ns);
    if (validation.end_ns - validation.begin_ns <= longest) continue;
    longest = validation.end_ns - validation.begin_ns;
    passes.loader = validation.loader;
  }
  return passes;
}

}  // namespace

std::optional<Cause> validation_pause(const Situation& situation) {
  const double share = situation.whole.share(Claim::kValidation);
  const Passes passes = find_passes(situation);
  if (share < kWarningShare || passes.count < 2 || passes.wall_ns <= 0) return std::nullopt;

  Cause cause = make_cause("validation_pause", share, situation);
  cause.gain = bound_without(share);
  cause.where = cause.fix.where = std::nullopt;
  const wire::LoaderRecord* loader = loader_record(*situation.trainer, passes.loader);
  if (loader != nullptr && loader->line > 0)
    cause.where = cause.fix.where = Location{std::string(situation.run->name(loader->file)), loader->line,
                                             std::string(situation.run->name(loader->code))};
  cause.change = without(Claim::kValidation, situation, "without validation");
  const double waiting = std::min(1.0, passes.wait_ns / passes.wall_ns);
  const double each_ms = passes.wall_ns / 1e6 / passes.count;
  cause.summary = fmt::format(
      "Training stands still for {} at each of {} validations{}: {} of all time, of which {} is waiting for validation "
      "data; without them it would be {}.",
      milliseconds(each_ms), passes.count, in_place(cause.where), percent(share), percent(waiting), kFasterHere);
  add_evidence(cause, "validations", passes.count, "", "hook");
  add_evidence(cause, "each", each_ms, "ms", "hook");
  add_evidence(cause, "of that waiting for the validation loader", waiting, "share", "hook");
  if (loader != nullptr && loader->workers != wire::kUnknown32)
    add_evidence(cause, "workers of the validation loader", loader->workers, "", "hook");
  const bool starved = waiting >= 0.5;
  cause.fix.text = starved && loader != nullptr && loader->workers == 0
                       ? "give the validation loader worker processes (num_workers), or validate less often"
                       : "validate less often, or on a fixed part of the data";
  cause.fix.risk = "validating less often tells later when training goes wrong; the trained weights stay the same";
  return cause;
}

}  // namespace fullbore::diagnose
