// Drawing the indices of a batch takes the training thread so long that the loop, and in the end the workers, wait for
// it.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Of the share: less, and indices are drawn at the start of epochs.
constexpr double kSteadyShare = 0.5;

// After warm-up, first batches of an epoch included: shuffling happens there.
double sampling_ns(const Situation& situation, bool steady = false) {
  double ns = 0;
  for (const Iteration& iteration : situation.iterations.all) {
    if (iteration.next == nullptr || iteration.begin_ns < situation.iterations.whole_begin_ns) continue;
    if (steady && !iteration.steady) continue;
    if (iteration.next->sampler_ns > 0)
      ns += static_cast<double>(std::min(iteration.next->sampler_ns, iteration.wait_ns()));
  }
  return ns;
}

std::string sampler_of(const Situation& situation) {
  const wire::LoaderRecord* loader = training_loader(*situation.trainer);
  return loader == nullptr ? "" : std::string(situation.run->name(loader->sampler));
}

}  // namespace

std::optional<Cause> sampler_slow(const Situation& situation) {
  if (situation.whole.total_ns <= 0) return std::nullopt;
  const double share = sampling_ns(situation) / situation.whole.total_ns;
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("sampler_slow", share, situation);
  cause.stage = "sampler";
  cause.gain = bound_without(share);
  // The replay knows the sampler of typical batches, not that of the first one of an epoch.
  if (sampling_ns(situation, true) >= kSteadyShare * share * situation.steady.total_ns) {
    cause.change.sampler = 0;
    cause.change.words = "with indices that cost nothing";
  }
  const std::string sampler = sampler_of(situation);
  const double each_ms =
      sampling_ns(situation) / 1e6 / static_cast<double>(std::max<std::size_t>(1, situation.whole.iterations));
  cause.summary = fmt::format(
      "The training thread spends {} of all time drawing indices{}{}: {} per batch, while nothing else happens there; "
      "without it training would be {}.",
      percent(share), sampler.empty() ? "" : " in " + sampler, in_place(situation.loader.where), milliseconds(each_ms),
      kFasterHere);
  add_evidence(cause, "in the sampler, per batch", each_ms, "ms", "hook");
  add_evidence(cause, "of all time", share, "share", "hook");
  add_evidence(cause, "waiting for input, per step", situation.wait_ms(), "ms", "hook");
  if (has_workers(situation)) add_evidence(cause, "workers busy", situation.makers.busy, "share", "hook");
  cause.fix.text =
      "draw all indices of an epoch at once, with one call (torch.randperm, torch.multinomial over the epoch), in "
      "__iter__, and hand them out from there; keep per-batch work out of the sampler";
  cause.fix.risk = "the same distribution, another order";
  cause.why_not.push_back("more workers: indices are drawn in the training process, whatever their number");
  return cause;
}

}  // namespace fullbore::diagnose
