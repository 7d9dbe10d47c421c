// Iterations of loader loops, of user-marked loops and of loops known by optimiser steps alone; see iterations.h.
#include "diagnose/iterations.h"

#include <algorithm>
#include <cmath>

#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kWarmupWindow = 5;
constexpr std::size_t kWarmupLimit = 20;
// An exceptional kind of iteration is kept out of the typical step only while it is the exception.
constexpr double kLeastKept = 1.0 / 3.0;

bool ends_loop(const wire::NextRecord& next) {
  return (next.flags & (wire::kStop | wire::kError)) != 0;
}

Iteration iteration_of(const wire::NextRecord& next, const wire::NextRecord& following) {
  Iteration iteration;
  iteration.begin_ns = next.begin_ns;
  iteration.wait_end_ns = std::min(next.end_ns, following.begin_ns);
  iteration.end_ns = following.begin_ns;
  iteration.next = &next;
  iteration.samples = next.samples;
  iteration.first = (next.flags & wire::kFirst) != 0;
  iteration.traced = (following.flags & wire::kTraced) != 0;
  const bool same = next.iterator == following.iterator;
  iteration.edge = !same && !ends_loop(following);
  iteration.hole = same && next.batch != wire::kUnknown && following.batch != wire::kUnknown && !ends_loop(following) &&
                   following.batch > next.batch + 1;
  return iteration;
}

void cut_loader(const Trainer& trainer, Iterations& out) {
  const auto& nexts = trainer.nexts;
  out.all.reserve(nexts.size());
  for (std::size_t i = 0; i < nexts.size(); ++i) {
    const bool last = i + 1 == nexts.size();
    if (ends_loop(*nexts[i])) {
      const std::int64_t end = last ? nexts[i]->end_ns : nexts[i + 1]->begin_ns;
      out.gaps.push_back({nexts[i]->begin_ns, std::min(nexts[i]->end_ns, end), end});
    } else if (!last) {
      out.all.push_back(iteration_of(*nexts[i], *nexts[i + 1]));
    }
  }
}

void cut_user_steps(const Trainer& trainer, Iterations& out) {
  const auto& steps = trainer.user_steps;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    Iteration iteration;
    iteration.begin_ns = steps[i]->begin_ns;
    iteration.wait_end_ns = std::min(steps[i]->end_ns, steps[i + 1]->begin_ns);
    iteration.end_ns = steps[i + 1]->begin_ns;
    iteration.samples = steps[i]->samples;
    iteration.first = i == 0;
    out.all.push_back(iteration);
  }
}

void cut_steps(const Trainer& trainer, Iterations& out) {
  for (std::size_t i = 0; i + 1 < trainer.steps.size(); ++i) {
    Iteration iteration;
    iteration.begin_ns = iteration.wait_end_ns = trainer.steps[i]->end_ns;
    iteration.end_ns = std::max(iteration.begin_ns, trainer.steps[i + 1]->end_ns);
    iteration.first = i == 0;
    out.all.push_back(iteration);
  }
}

void count_optimizer_steps(const Trainer& trainer, Iterations& out) {
  auto step = trainer.steps.begin();
  for (Iteration& iteration : out.all) {
    while (step != trainer.steps.end() && (*step)->begin_ns < iteration.begin_ns) ++step;
    while (step != trainer.steps.end() && (*step)->begin_ns < iteration.end_ns) ++step, ++iteration.optimizer_steps;
  }
}

void mark_pauses(const Trainer& trainer, Iterations& out) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pauses;
  for (const Validation& validation : trainer.validations) pauses.emplace_back(validation.begin_ns, validation.end_ns);
  for (const auto& interval : trainer.rank->intervals) {
    if (interval.pid == trainer.pid && interval.tid == trainer.tid &&
        interval.record.kind == wire::IntervalKind::kCheckpoint)
      pauses.emplace_back(interval.record.begin_ns, interval.record.end_ns);
  }
  std::ranges::sort(pauses);
  auto pause = pauses.begin();
  for (Iteration& iteration : out.all) {
    while (pause != pauses.end() && pause->second <= iteration.begin_ns) ++pause;
    iteration.paused = pause != pauses.end() && pause->first < iteration.end_ns;
  }
}

// Batches made while their samples were traced, in the training thread (0 workers).
void mark_traced_batches(const Trainer& trainer, Iterations& out) {
  auto iteration = out.all.begin();
  for (const auto& batch : trainer.rank->batches) {
    if (batch.pid != trainer.pid || (batch.record.flags & wire::kTraced) == 0) continue;
    while (iteration != out.all.end() && iteration->end_ns <= batch.record.begin_ns) ++iteration;
    if (iteration != out.all.end() && iteration->begin_ns <= batch.record.begin_ns) iteration->traced = true;
  }
}

void keep_out(Iterations& out, bool Iteration::* kind) {
  std::size_t kept = 0, candidates = 0;
  for (const Iteration& iteration : out.all) {
    if (!iteration.steady) continue;
    ++candidates;
    if (!(iteration.*kind)) ++kept;
  }
  if (static_cast<double>(kept) < kLeastKept * static_cast<double>(candidates)) return;
  for (Iteration& iteration : out.all) iteration.steady = iteration.steady && !(iteration.*kind);
}

void choose_steady(Iterations& out) {
  for (std::size_t i = 0; i < out.all.size(); ++i) out.all[i].steady = i >= out.warmup && !out.all[i].edge;
  for (const auto kind : {&Iteration::hole, &Iteration::first, &Iteration::paused, &Iteration::traced})
    keep_out(out, kind);
  for (const Iteration& iteration : out.all) {
    if (!iteration.steady) continue;
    ++out.steady;
    out.steady_ns += iteration.wall_ns();
  }
}

// The whole account ends with the last thing known, so that a pause after the last epoch counts like the others.
void bound_whole(const Trainer& trainer, Iterations& out) {
  if (out.all.size() <= out.warmup) return;
  out.whole_count = out.all.size() - out.warmup;
  out.whole_begin_ns = out.all[out.warmup].begin_ns;
  out.whole_end_ns = out.all.back().end_ns;
  const bool stopped = !out.gaps.empty() && out.gaps.back().begin_ns >= out.all.back().end_ns;
  if (!stopped) return;
  std::int64_t end = out.gaps.back().stop_end_ns;
  for (const Validation& validation : trainer.validations) end = std::max(end, validation.end_ns);
  for (const auto& interval : trainer.rank->intervals) {
    if (interval.pid == trainer.pid && interval.tid == trainer.tid &&
        interval.record.kind == wire::IntervalKind::kCheckpoint)
      end = std::max(end, interval.record.end_ns);
  }
  out.gaps.back().end_ns = out.whole_end_ns = end;
}

}  // namespace

std::size_t warmup_length(const std::vector<std::int64_t>& wall_ns) {
  const std::size_t limit = std::min(kWarmupLimit, wall_ns.size() / 4);
  const auto window_median = [&](std::size_t end) {
    std::vector<double> window;
    for (std::size_t i = end - kWarmupWindow; i < end; ++i) window.push_back(static_cast<double>(wall_ns[i]));
    return *median(std::move(window));
  };
  for (std::size_t end = 2 * kWarmupWindow; end - kWarmupWindow <= limit; ++end) {
    const double before = window_median(end - kWarmupWindow), after = window_median(end);
    if (std::abs(after - before) <= 0.1 * before) return end - kWarmupWindow;
  }
  return limit;
}

Iterations cut_iterations(const Trainer& trainer) {
  Iterations out;
  if (trainer.loop == LoopKind::kLoader) cut_loader(trainer, out);
  if (trainer.loop == LoopKind::kUserSteps) cut_user_steps(trainer, out);
  if (trainer.loop == LoopKind::kSteps) cut_steps(trainer, out);
  count_optimizer_steps(trainer, out);
  mark_pauses(trainer, out);
  mark_traced_batches(trainer, out);
  std::vector<std::int64_t> wall_ns;
  for (std::size_t i = 0; i < std::min<std::size_t>(out.all.size(), 4 * kWarmupLimit); ++i)
    wall_ns.push_back(out.all[i].wall_ns());
  out.warmup = warmup_length(wall_ns);
  choose_steady(out);
  bound_whole(trainer, out);
  return out;
}

}  // namespace fullbore::diagnose
