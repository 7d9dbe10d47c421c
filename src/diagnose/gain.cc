// Bounds and the recommended number of workers; see gain.h.
#include "diagnose/gain.h"

#include <algorithm>
#include <cmath>

#include "diagnose/replay/predict.h"

namespace fullbore::diagnose {
namespace {

constexpr double kMostGain = 1000;
constexpr int kMostWorkers = 64;
constexpr int kWorkersWithoutCores = 4;  // when the number of cores is not known
// A loader that only just keeps up still makes the loop wait now and then.
constexpr double kMargin = 1.1;

int most_workers(const Situation& situation) {
  double most = kWorkersWithoutCores;
  if (const auto cores = situation.resources.rank_cores) {
    const bool blocked = situation.makers.blocked_share().value_or(0) >= 0.5;
    // The thread that launches the work keeps a core where there are more than two.
    const double own = *cores > 2 ? 1 : 0;
    most = blocked ? 4 * std::ceil(*cores) : std::max(1.0, std::floor(*cores - own));
  }
  return static_cast<int>(std::clamp<double>(most, 1, kMostWorkers));
}

// CPU time of the training thread per steady step.
std::optional<double> training_thread_ms(const Situation& situation) {
  double ns = 0;
  std::size_t steps = 0;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr) continue;
    if (iteration.next->cpu_ns == wire::kUnknown || iteration.next->loop_cpu_ns == wire::kUnknown) continue;
    ns += static_cast<double>(iteration.next->cpu_ns + iteration.next->loop_cpu_ns);
    ++steps;
  }
  return steps > 0 ? std::optional(ns / 1e6 / static_cast<double>(steps)) : std::nullopt;
}

}  // namespace

double trainers_on_host(const Resources& resources) {
  if (!resources.usable_cores || !resources.rank_cores || *resources.rank_cores <= 0) return 1;
  return *resources.usable_cores / *resources.rank_cores;
}

Gain bound_without(double share) {
  Gain gain;
  gain.max = std::min(kMostGain, 1 / std::max(1e-3, 1 - share));
  return gain;
}

std::optional<double> cpu_ms_per_step(const Situation& situation) {
  if (situation.step_ms() <= 0) return std::nullopt;
  // Arithmetic on samples wakes a pool of threads in the training process, which spin for the next call; a worker has
  // one thread. With the model on a GPU the training thread's own work is all that has to be done.
  if (situation.gpu && situation.loader.workers == 0) {
    if (const auto own = training_thread_ms(situation)) return own;
  }
  if (situation.resources.tree_cores)
    return *situation.resources.tree_cores / trainers_on_host(situation.resources) * situation.step_ms();
  const auto share = situation.makers.cpu_share();
  const auto batch_ms = situation.makers.batch_ms();
  if (!share || !batch_ms) return std::nullopt;
  return *share * *batch_ms;
}

Gain bound_with_cores(const Situation& situation, double share, double worker_cpu) {
  Gain gain = bound_without(share);
  const auto cpu_ms = cpu_ms_per_step(situation);
  if (!cpu_ms || !situation.resources.rank_cores || *situation.resources.rank_cores <= 0) return gain;
  const double saved_ms = (1 - worker_cpu) * situation.resources.worker_cores.value_or(0) /
                          trainers_on_host(situation.resources) * situation.step_ms();
  const double least_ms = std::max(0.0, *cpu_ms - saved_ms) / *situation.resources.rank_cores;
  if (least_ms > 0) gain.max = std::clamp(situation.step_ms() / least_ms, 1.0, *gain.max);
  return gain;
}

int recommended_workers(const Situation& situation) {
  const int most = most_workers(situation);
  if (situation.replay.explains()) return replay::fewest_workers(situation.replay, most);
  const double left_ms = std::max(situation.step_ms() - situation.wait_ms(), 1e-3);
  const double batch_ms = situation.makers.batch_ms().value_or(situation.wait_ms());
  const double needed = std::ceil(std::min(1e6, kMargin * batch_ms / left_ms));
  return static_cast<int>(std::clamp<double>(needed, 1, most));
}

}  // namespace fullbore::diagnose
