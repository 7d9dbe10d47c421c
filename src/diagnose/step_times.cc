// Means for money, medians for typical, p99 and autocorrelation for bursts; see step_times.h.
#include "diagnose/step_times.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diagnose/statistics.h"

namespace fullbore::diagnose {
namespace {

// Halves disagree when the wait differs by so many points of step time and by half of the larger one.
constexpr double kPointsApart = 0.10;
constexpr std::size_t kLeastToCompare = 20;

std::optional<double> samples_per_s(const Iterations& iterations) {
  double samples = 0, wall_ns = 0;
  for (const Iteration& iteration : iterations.all) {
    if (!iteration.steady || iteration.samples == wire::kUnknown32) continue;
    samples += iteration.samples;
    wall_ns += static_cast<double>(iteration.wall_ns());
  }
  if (samples <= 0 || wall_ns <= 0) return std::nullopt;
  return samples / (wall_ns / 1e9);
}

std::optional<double> epoch_hours(const Trainer& trainer, const Iterations& iterations) {
  const wire::LoaderRecord* loader = training_loader(trainer);
  if (trainer.loop != LoopKind::kLoader || loader == nullptr || loader->batches == wire::kUnknown) return std::nullopt;
  if (iterations.whole_count == 0) return std::nullopt;
  const double whole_ns = static_cast<double>(iterations.whole_end_ns - iterations.whole_begin_ns);
  return whole_ns / static_cast<double>(iterations.whole_count) * static_cast<double>(loader->batches) / 3.6e12;
}

}  // namespace

Steps measure_steps(const Trainer& trainer, const Iterations& iterations, bool wait_known) {
  Steps steps;
  steps.count = static_cast<std::int64_t>(iterations.steady);
  steps.warmup = static_cast<std::int64_t>(iterations.warmup);
  std::vector<double> wall_ms, wait_ms;
  double optimizer_steps = 0;
  for (const Iteration& iteration : iterations.all) {
    if (!iteration.steady) continue;
    wall_ms.push_back(static_cast<double>(iteration.wall_ns()) / 1e6);
    wait_ms.push_back(static_cast<double>(iteration.wait_ns()) / 1e6);
    optimizer_steps += iteration.optimizer_steps;
  }
  if (wall_ms.empty()) return steps;
  steps.mean_ms = mean(wall_ms);
  steps.p5_ms = quantile(wall_ms, 0.05);
  steps.p50_ms = quantile(wall_ms, 0.5);
  steps.p95_ms = quantile(wall_ms, 0.95);
  steps.p99_ms = quantile(wall_ms, 0.99);
  steps.sem_ms = standard_error(wall_ms);
  if (wait_known) {
    steps.wait_mean_ms = mean(wait_ms);
    steps.wait_p99_ms = quantile(wait_ms, 0.99);
    steps.wait_autocorrelation = autocorrelation(wait_ms);
  }
  steps.samples_per_s = samples_per_s(iterations);
  steps.epoch_hours = epoch_hours(trainer, iterations);
  if (!trainer.steps.empty())
    steps.optimizer_steps_per_iteration = optimizer_steps / static_cast<double>(wall_ms.size());
  return steps;
}

Halves compare_halves(const Iterations& iterations) {
  Halves halves;
  std::vector<const Iteration*> steady;
  for (const Iteration& iteration : iterations.all) {
    if (iteration.steady) steady.push_back(&iteration);
  }
  if (steady.size() < kLeastToCompare) return halves;
  std::vector<double> wait{0}, wall{0};  // running sums
  for (const Iteration* iteration : steady) {
    wait.push_back(wait.back() + static_cast<double>(iteration->wait_ns()));
    wall.push_back(wall.back() + static_cast<double>(iteration->wall_ns()));
  }
  if (wall.back() <= 0) return halves;
  const auto share = [&](std::size_t from, std::size_t to) {
    return wall[to] > wall[from] ? (wait[to] - wait[from]) / (wall[to] - wall[from]) : 0.0;
  };
  const auto half = std::ranges::lower_bound(wall, wall.back() / 2);
  const auto middle = std::clamp<std::size_t>(static_cast<std::size_t>(half - wall.begin()), 1, steady.size() - 1);
  halves.first = share(0, middle);
  halves.second = share(middle, steady.size());
  const double apart = std::abs(*halves.first - *halves.second);
  if (apart <= kPointsApart || apart <= 0.5 * std::max(*halves.first, *halves.second)) return halves;
  std::size_t at = middle;
  double most = 0;
  for (std::size_t i = steady.size() / 10; i < steady.size() - steady.size() / 10; ++i) {
    const double difference = std::abs(share(0, i) - share(i, steady.size()));
    if (i > 0 && difference > most) most = difference, at = i;
  }
  halves.changed_ns = steady[at]->begin_ns;
  return halves;
}

}  // namespace fullbore::diagnose
