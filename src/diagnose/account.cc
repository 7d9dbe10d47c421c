// Builds the exclusive account by taking claims in order of precedence, each only where nobody was before; linear in
// the number of records. See account.h.
#include "diagnose/account.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace fullbore::diagnose {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;
using Claims = std::array<std::vector<Interval>, static_cast<std::size_t>(Claim::kCount)>;

std::vector<Interval>& of(Claims& claims, Claim claim) {
  return claims[static_cast<std::size_t>(claim)];
}

std::optional<Claim> claim_of(wire::IntervalKind kind) {
  switch (kind) {
    case wire::IntervalKind::kCheckpoint:
      return Claim::kCheckpoint;
    case wire::IntervalKind::kGarbageCollection:
      return Claim::kGarbageCollection;
    case wire::IntervalKind::kBlockingRead:
      return Claim::kBlockingRead;
    case wire::IntervalKind::kCopyCall:
      return Claim::kCopyCall;
    case wire::IntervalKind::kLogging:
      return Claim::kLogging;
    case wire::IntervalKind::kProfiler:
      return Claim::kProfiler;
    case wire::IntervalKind::kCollective:
      return Claim::kCollective;
  }
  return std::nullopt;  // written by a newer hook
}

Claims collect_claims(const Trainer& trainer, const Iterations& iterations) {
  Claims claims;
  for (const auto& interval : trainer.rank->intervals) {
    if (interval.pid != trainer.pid || interval.tid != trainer.tid) continue;
    const auto claim = claim_of(interval.record.kind);
    if (claim && interval.record.begin_ns < interval.record.end_ns)
      of(claims, *claim).emplace_back(interval.record.begin_ns, interval.record.end_ns);
  }
  for (const Validation& validation : trainer.validations)
    of(claims, Claim::kValidation).emplace_back(validation.begin_ns, validation.end_ns);
  auto& waits = of(claims, Claim::kInputWait);
  for (const Iteration& iteration : iterations.all) waits.emplace_back(iteration.begin_ns, iteration.wait_end_ns);
  for (const EpochGap& gap : iterations.gaps) waits.emplace_back(gap.begin_ns, gap.stop_end_ns);
  for (const auto* next : trainer.companions) waits.emplace_back(next->begin_ns, next->end_ns);
  for (const auto* iterator : trainer.iterators) waits.emplace_back(iterator->begin_ns, iterator->end_ns);
  return claims;
}

// Sorted and without overlaps.
void tidy(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals);
  std::size_t kept = 0;
  for (const Interval& interval : intervals) {
    if (interval.first >= interval.second) continue;
    if (kept > 0 && interval.first <= intervals[kept - 1].second)
      intervals[kept - 1].second = std::max(intervals[kept - 1].second, interval.second);
    else
      intervals[kept++] = interval;
  }
  intervals.resize(kept);
}

// `taken` with what of `wanted` is still free, marked `claim`.
std::vector<Stretch> take(const std::vector<Stretch>& taken, const std::vector<Interval>& wanted, Claim claim) {
  std::vector<Stretch> out;
  out.reserve(taken.size() + wanted.size());
  auto next = taken.begin();
  for (auto [begin, end] : wanted) {
    while (next != taken.end() && next->end_ns <= begin) out.push_back(*next++);
    while (begin < end) {
      const bool blocked = next != taken.end() && next->begin_ns < end;
      const std::int64_t until = blocked ? next->begin_ns : end;
      if (begin < until) out.push_back({begin, until, claim});
      if (!blocked) break;
      begin = next->end_ns;
      if (begin > end) break;  // the taken stretch reaches past this one: the next wanted may meet it too
      out.push_back(*next++);
    }
  }
  out.insert(out.end(), next, taken.end());
  return out;
}

// Walks the stretches and windows together; windows must come in order of time.
class Accountant {
 public:
  explicit Accountant(const std::vector<Stretch>& stretches) : stretches_(stretches) {}

  // Adds the claims inside the window; returns what nobody claimed.
  double add(std::int64_t begin_ns, std::int64_t end_ns, Accounted& out) {
    while (next_ < stretches_.size() && stretches_[next_].end_ns <= begin_ns) ++next_;
    double claimed = 0;
    for (std::size_t i = next_; i < stretches_.size() && stretches_[i].begin_ns < end_ns; ++i) {
      const auto overlap = std::min(end_ns, stretches_[i].end_ns) - std::max(begin_ns, stretches_[i].begin_ns);
      out.claimed_ns[static_cast<std::size_t>(stretches_[i].claim)] += static_cast<double>(overlap);
      claimed += static_cast<double>(overlap);
    }
    const double wall = static_cast<double>(end_ns - begin_ns);
    out.total_ns += wall;
    return wall - claimed;
  }

 private:
  const std::vector<Stretch>& stretches_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Stretch> exclusive_stretches(const Trainer& trainer, const Iterations& iterations) {
  Claims claims = collect_claims(trainer, iterations);
  std::vector<Stretch> taken;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    tidy(claims[i]);
    if (!claims[i].empty()) taken = take(taken, claims[i], static_cast<Claim>(i));
  }
  return taken;
}

Accounted account_steady(const std::vector<Stretch>& stretches, const Iterations& iterations) {
  Accounted out;
  Accountant accountant(stretches);
  for (const Iteration& iteration : iterations.all) {
    if (!iteration.steady) continue;
    out.body_ns += accountant.add(iteration.begin_ns, iteration.end_ns, out);
    ++out.iterations;
  }
  return out;
}

Accounted account_whole(const std::vector<Stretch>& stretches, const Iterations& iterations) {
  Accounted out;
  Accountant accountant(stretches);
  std::int64_t reached = iterations.whole_begin_ns;
  for (std::size_t i = iterations.warmup; i < iterations.all.size(); ++i) {
    const Iteration& iteration = iterations.all[i];
    if (iteration.begin_ns > reached) out.between_epochs_ns += accountant.add(reached, iteration.begin_ns, out);
    const double rest = accountant.add(iteration.begin_ns, iteration.end_ns, out);
    (iteration.hole ? out.unknown_ns : out.body_ns) += rest;
    reached = iteration.end_ns;
    ++out.iterations;
  }
  if (iterations.whole_end_ns > reached) out.between_epochs_ns += accountant.add(reached, iterations.whole_end_ns, out);
  return out;
}

void spread(Accounted& accounted, Claim claim, double of_body) {
  double& claimed = accounted.claimed_ns[static_cast<std::size_t>(claim)];
  const double open_ns = accounted.body_ns + claimed;
  claimed = std::clamp(of_body, 0.0, 1.0) * open_ns;
  accounted.body_ns = open_ns - claimed;
}

Account to_account(const Accounted& accounted, bool wait_known) {
  Account account;
  if (accounted.iterations == 0 || accounted.total_ns <= 0) return account;
  const double iterations = static_cast<double>(accounted.iterations);
  const auto part = [&](double ns) { return Part{ns / 1e6 / iterations, ns / accounted.total_ns}; };
  account.step_ms = part(accounted.total_ns).ms;
  if (wait_known) account.parts["input_wait"] = part(accounted.claim_ns(Claim::kInputWait));
  account.parts["host_sync"] = part(accounted.claim_ns(Claim::kBlockingRead));
  // What the loop body does is only known once the wait for its input has been taken out of it.
  const double unknown_ns = accounted.unknown_ns + (wait_known ? 0 : accounted.body_ns);
  if (wait_known) account.parts["model"] = part(accounted.body_ns);
  account.parts["collective_wait"] = part(accounted.claim_ns(Claim::kCollective));
  account.parts["checkpoint"] = part(accounted.claim_ns(Claim::kCheckpoint));
  account.parts["validation"] = part(accounted.claim_ns(Claim::kValidation));
  account.parts["logging"] = part(accounted.claim_ns(Claim::kLogging));
  account.parts["gc"] = part(accounted.claim_ns(Claim::kGarbageCollection));
  account.parts["unknown"] = part(unknown_ns);
  const std::pair<const char*, double> others[] = {{"copy_calls", accounted.claim_ns(Claim::kCopyCall)},
                                                   {"torch_profiler", accounted.claim_ns(Claim::kProfiler)},
                                                   {"between_epochs", accounted.between_epochs_ns}};
  double other_ns = 0;
  for (const auto& [name, ns] : others) {
    if (ns > 0) account.other.emplace_back(name, part(ns));
    other_ns += ns;
  }
  account.parts["other"] = part(other_ns);
  return account;
}

}  // namespace fullbore::diagnose
