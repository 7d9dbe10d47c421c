// One cursor per worker moves through its batches as the loop consumes them, so the walk is linear; see wait_walk.h.
#include "diagnose/wait_walk.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kSlowSamplesKept = 100;
constexpr std::size_t kLookBack = 256;  // more batches than any worker keeps in flight
// A hand-over that takes at most so many times its own work is its own.
constexpr double kOwnWork = 2;

std::int64_t overlap(std::int64_t begin, std::int64_t end, std::int64_t from, std::int64_t to) {
  return std::max<std::int64_t>(0, std::min(end, to) - std::max(begin, from));
}

class Walker {
 public:
  Walker(const Makers& makers, std::int64_t judged_from_ns, WaitWalk& out)
      : makers_(makers), out_(out), judged_from_(judged_from_ns), cursor_(makers.workers.size(), 0) {
    for (std::size_t i = 0; i < makers.workers.size(); ++i) place_of_[makers.workers[i].worker] = i;
  }

  void visit(const Iteration& iteration) {
    const auto found = find(*iteration.next);
    if (!found) {
      if (iteration.steady) unmatched(iteration);
      return;
    }
    const auto [place, position] = *found;
    cursor_[place] = position + 1;
    if (iteration.begin_ns < judged_from_) return;
    std::map<Doing, Spent> spent;
    attribute(iteration, makers_.workers[place], position, spent);
    const auto behind = standing_behind(iteration, makers_.workers[place], position);
    add(spent, out_.whole);
    add(behind, out_.whole_behind);
    if (!iteration.steady) return;
    add(spent, out_.steady);
    add(behind, out_.steady_behind);
    ++out_.matched;
    out_.wait_ns += static_cast<double>(iteration.wait_ns());
    out_.by_worker[makers_.workers[place].worker] += static_cast<double>(iteration.wait_ns());
    note_head_of_line(iteration, place);
    note_slow_sample(*makers_.workers[place].made[position].batch, iteration.begin_ns, iteration.wait_end_ns,
                     out_.slow_sample_ns, out_.slow_samples);
    note_slow_behind(iteration, makers_.workers[place], position);
  }

 private:
  using Found = std::pair<std::size_t, std::size_t>;  // worker, position

  // A worker hands over in the order in which it made, so the search only moves forward. It looks at the last few that
  // were begun before the batch arrived: what was made earlier and never asked for is skipped.
  std::optional<Found> find(const wire::NextRecord& next) const {
    const auto place = place_of_.find(next.worker);
    if (place == place_of_.end() || next.batch == wire::kUnknown) return std::nullopt;
    const auto& made = makers_.workers[place->second].made;
    const auto begun = std::ranges::upper_bound(made, next.end_ns, {}, [](const Made& m) { return m.batch->begin_ns; });
    const auto end = static_cast<std::size_t>(begun - made.begin());
    const std::size_t nearest = end > kLookBack ? end - kLookBack : 0;
    for (std::size_t i = std::max(cursor_[place->second], nearest); i < end; ++i) {
      if (made[i].batch->batch == next.batch && made[i].batch->collated_ns <= next.end_ns)
        return Found(place->second, i);
    }
    return std::nullopt;
  }

  void unmatched(const Iteration& iteration) {
    ++out_.unmatched;
    out_.wait_ns += static_cast<double>(iteration.wait_ns());
    out_.steady[Doing::kUnknown].ns += static_cast<double>(iteration.wait_ns());
  }

  // From the end of the wait back through the worker's life.
  static void attribute(const Iteration& iteration, const Maker& maker, std::size_t position,
                        std::map<Doing, Spent>& out) {
    const bool in_worker = maker.worker != wire::kUnknown32;
    const std::int64_t from = iteration.begin_ns;
    std::int64_t to = iteration.wait_end_ns;
    if (in_worker && iteration.next->sampler_ns > 0) {
      // The batch is there, and torch draws the indices of a later one before it hands this one out.
      const std::int64_t drawing = std::max(from, to - iteration.next->sampler_ns);
      spend(out, Doing::kSampler, to - drawing, nullptr);
      to = drawing;
    }
    std::int64_t reached = to;
    for (std::size_t i = position + 1; i-- > 0 && reached > from;) {
      const wire::BatchRecord& batch = *maker.made[i].batch;
      spend(out, Doing::kHandoff, overlap(batch.collated_ns, reached, from, to), nullptr);
      spend(out, Doing::kCollate, overlap(batch.fetched_ns, std::min(reached, batch.collated_ns), from, to), &batch);
      spend(out, Doing::kFetch, overlap(batch.begin_ns, std::min(reached, batch.fetched_ns), from, to), &batch);
      reached = std::min(reached, batch.begin_ns);
      const bool first = i == 0 || maker.made[i - 1].pid != maker.made[i].pid;
      const std::int64_t before = first ? from : std::max(from, maker.made[i - 1].batch->put_ns);
      const Doing before_it = !in_worker ? Doing::kSampler : first ? Doing::kStart : Doing::kIndex;
      spend(out, before_it, overlap(before, reached, from, to), nullptr);
      reached = std::min(reached, before);
    }
  }

  // When the loop waited for that batch although it was finished; empty without workers.
  static Span on_the_way(const Iteration& iteration, const Maker& maker, std::size_t position) {
    if (maker.worker == wire::kUnknown32) return {0, 0};
    const std::int64_t sampler_ns = std::max<std::int64_t>(0, iteration.next->sampler_ns);
    const std::int64_t from = std::max(iteration.begin_ns, maker.made[position].batch->collated_ns);
    return {from, std::max(from, iteration.wait_end_ns - sampler_ns)};
  }

  // While the batch was on its way: what its worker was doing.
  static std::map<Doing, Spent> standing_behind(const Iteration& iteration, const Maker& maker, std::size_t position) {
    std::map<Doing, Spent> out;
    const auto [from, to] = on_the_way(iteration, maker, position);
    for (std::size_t i = position + 1; i < maker.made.size() && maker.made[i].batch->begin_ns < to; ++i) {
      const wire::BatchRecord& batch = *maker.made[i].batch;
      spend(out, Doing::kFetch, overlap(batch.begin_ns, batch.fetched_ns, from, to), &batch);
      spend(out, Doing::kCollate, overlap(batch.fetched_ns, batch.collated_ns, from, to), &batch);
    }
    return out;
  }

  static void spend(std::map<Doing, Spent>& out, Doing doing, std::int64_t ns, const wire::BatchRecord* batch) {
    if (ns <= 0) return;
    Spent& spent = out[doing];
    spent.ns += static_cast<double>(ns);
    if (batch == nullptr || batch->cpu_ns == wire::kUnknown || batch->runq_ns == wire::kUnknown) return;
    const double making = static_cast<double>(batch->collated_ns - batch->begin_ns);
    if (making <= 0) return;
    spent.timed_ns += static_cast<double>(ns);
    spent.cpu_ns += static_cast<double>(ns) * std::min(1.0, static_cast<double>(batch->cpu_ns) / making);
    spent.runq_ns += static_cast<double>(ns) * std::min(1.0, static_cast<double>(batch->runq_ns) / making);
  }

  static void add(const std::map<Doing, Spent>& from, std::map<Doing, Spent>& to) {
    for (const auto& [doing, spent] : from) {
      Spent& sum = to[doing];
      sum.ns += spent.ns;
      sum.timed_ns += spent.timed_ns;
      sum.cpu_ns += spent.cpu_ns;
      sum.runq_ns += spent.runq_ns;
    }
  }

  // The next batch of each other worker: was it there before this one?
  void note_head_of_line(const Iteration& iteration, std::size_t place) {
    std::int64_t ready = iteration.wait_end_ns;
    for (std::size_t other = 0; other < cursor_.size(); ++other) {
      const auto& made = makers_.workers[other].made;
      if (other == place || cursor_[other] >= made.size()) continue;
      const wire::BatchRecord& batch = *made[cursor_[other]].batch;
      if (batch.batch > iteration.next->batch) ready = std::min(ready, batch.put_ns);
    }
    out_.head_of_line_ns += static_cast<double>(iteration.wait_end_ns - std::max(ready, iteration.begin_ns));
  }

  // What of [from, to) was spent on what one sample took beyond a typical one.
  void note_slow_sample(const wire::BatchRecord& batch, std::int64_t from, std::int64_t to, double& sum_ns,
                        std::vector<SlowSample>& samples) const {
    if (!makers_.sample_ns || batch.slowest_ns == wire::kUnknown || batch.slowest_begin_ns == wire::kUnknown) return;
    const double slowest = static_cast<double>(batch.slowest_ns);
    if (slowest <= 0 || slowest < kSlowSampleFactor * *makers_.sample_ns) return;
    const auto waited = overlap(batch.slowest_begin_ns, batch.slowest_begin_ns + batch.slowest_ns, from, to);
    if (waited <= 0) return;
    sum_ns += std::min(static_cast<double>(waited), slowest - *makers_.sample_ns);
    samples.push_back({batch.slowest_index, slowest / 1e6, batch.slowest_begin_ns, batch.worker});
  }

  void note_slow_behind(const Iteration& iteration, const Maker& maker, std::size_t position) {
    const auto [from, to] = on_the_way(iteration, maker, position);
    for (std::size_t i = position + 1; i < maker.made.size() && maker.made[i].batch->begin_ns < to; ++i)
      note_slow_sample(*maker.made[i].batch, from, to, out_.slow_behind_ns, out_.slow_behind);
  }

  const Makers& makers_;
  WaitWalk& out_;
  std::int64_t judged_from_;
  std::vector<std::size_t> cursor_;
  std::unordered_map<std::int32_t, std::size_t> place_of_;
};

}  // namespace

double WaitWalk::spent_ns(Doing doing) const {
  const auto spent = steady.find(doing);
  return spent == steady.end() ? 0 : spent->second.ns;
}

namespace {

void give_back(double share, const std::map<Doing, Spent>& behind, std::map<Doing, Spent>& spent) {
  const auto handing = spent.find(Doing::kHandoff);
  if (handing == spent.end()) return;
  for (const auto& [doing, part] : behind) {
    const double ns = std::min(share * part.ns, handing->second.ns);
    const double scale = part.ns > 0 ? ns / part.ns : 0;
    handing->second.ns -= ns;
    Spent& to = spent[doing];
    to.ns += ns;
    to.timed_ns += scale * part.timed_ns;
    to.cpu_ns += scale * part.cpu_ns;
    to.runq_ns += scale * part.runq_ns;
  }
}

void keep_slowest(std::vector<SlowSample>& samples) {
  std::ranges::sort(samples, std::ranges::greater{}, &SlowSample::ms);
  if (samples.size() > kSlowSamplesKept) samples.resize(kSlowSamplesKept);
}

double total_ns(const std::map<Doing, Spent>& spent) {
  double sum = 0;
  for (const auto& [doing, part] : spent) sum += part.ns;
  return sum;
}

}  // namespace

void give_back_standing_behind(WaitWalk& walk, double handing_ns) {
  const double handing = walk.spent_ns(Doing::kHandoff), behind = total_ns(walk.steady_behind);
  const double own = handing_ns * static_cast<double>(walk.matched);
  if (behind <= 0 || handing <= kOwnWork * own) return;
  const double share = std::min(1.0, (handing - own) / behind);
  give_back(share, walk.steady_behind, walk.steady);
  give_back(share, walk.whole_behind, walk.whole);
  walk.slow_sample_ns += share * walk.slow_behind_ns;
  walk.slow_samples.insert(walk.slow_samples.end(), walk.slow_behind.begin(), walk.slow_behind.end());
  keep_slowest(walk.slow_samples);
}

WaitWalk walk_waits(const Iterations& iterations, const Makers& makers) {
  WaitWalk out;
  Walker walker(makers, iterations.whole_begin_ns, out);
  for (const Iteration& iteration : iterations.all) {
    if (iteration.next != nullptr) walker.visit(iteration);
  }
  keep_slowest(out.slow_samples);
  keep_slowest(out.slow_behind);
  return out;
}

}  // namespace fullbore::diagnose
