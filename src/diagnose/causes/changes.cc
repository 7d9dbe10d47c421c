// See changes.h.
#include "diagnose/causes/changes.h"

#include <algorithm>
#include <utility>

namespace fullbore::diagnose {
namespace {

double ms_per_iteration(const Accounted& account, Claim claim) {
  return account.iterations == 0 ? 0 : account.claim_ns(claim) / 1e6 / static_cast<double>(account.iterations);
}

}  // namespace

Change with_reads_at(double left, const Situation& situation, std::string words) {
  Change change;
  change.words = std::move(words);
  double of_blocked = 1;
  const PlaceProfile& samples = situation.profile.dataset;
  const double blocked = situation.makers.blocked_share().value_or(0);
  const double reading = samples.share(wire::Stage::kOpen) + samples.share(wire::Stage::kRead);
  if (samples.measured() && blocked > 0) of_blocked = std::min(1.0, reading / blocked);
  change.sample_blocked = 1 - of_blocked * (1 - std::clamp(left, 0.0, 1.0));
  return change;
}

Change without(Claim claim, const Situation& situation, std::string words) {
  Change change;
  change.words = std::move(words);
  change.body_less_ms = ms_per_iteration(situation.steady, claim);
  // What typical steps do not have lies at checkpoints, validations and edges of epochs.
  change.pause_less_ms = std::max(0.0, ms_per_iteration(situation.whole, claim) - change.body_less_ms);
  return change;
}

}  // namespace fullbore::diagnose
