#include "diagnose/step_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::DoubleNear;
using testing::ms;
using ::testing::Optional;
using testing::simulate;

Iterations made_of(const std::vector<std::pair<double, double>>& wall_and_wait_ms) {
  Iterations iterations;
  std::int64_t now = 0;
  for (const auto& [wall, wait] : wall_and_wait_ms) {
    Iteration iteration;
    iteration.begin_ns = now;
    iteration.wait_end_ns = now + ms(wait);
    iteration.end_ns = now += ms(wall);
    iteration.steady = true;
    iterations.all.push_back(iteration);
  }
  return iterations;
}

TEST(MeasureSteps, CountsTimesAndSamples) {
  const record::Run run = simulate(
      {.workers = 0, .batch = 10, .batches = 50, .body_ms = 80, .sample_ms = 2, .collate_ms = 0, .handoff_ms = 0});
  const auto trainers = find_trainers(run);
  const Steps steps = measure_steps(trainers.at(0), cut_iterations(trainers.at(0)), true);
  EXPECT_THAT(steps.mean_ms, Optional(DoubleNear(100, 1e-6)));
  EXPECT_THAT(steps.wait_mean_ms, Optional(DoubleNear(20, 1e-6)));
  EXPECT_THAT(steps.samples_per_s, Optional(DoubleNear(100, 1e-6)));
  EXPECT_THAT(steps.epoch_hours, Optional(DoubleNear(5.0 / 3600, 1e-5)));
  EXPECT_THAT(steps.optimizer_steps_per_iteration, Optional(1.0));
}

TEST(CompareHalves, AgreeWhereNothingChanges) {
  const Halves halves = compare_halves(made_of(std::vector<std::pair<double, double>>(40, {100, 30})));
  EXPECT_THAT(halves.first, Optional(DoubleNear(0.3, 1e-9)));
  EXPECT_FALSE(halves.changed_ns);
}

TEST(CompareHalves, FindWhereTheRunChanged) {
  std::vector<std::pair<double, double>> steps(60, {100, 60});
  for (std::size_t i = 24; i < steps.size(); ++i) steps[i] = {50, 2};
  EXPECT_THAT(compare_halves(made_of(steps)).changed_ns, Optional(ms(2400)));
}

TEST(CompareHalves, SayNothingOfFewSteps) {
  EXPECT_FALSE(compare_halves(made_of({{100, 60}, {50, 2}})).first);
}

}  // namespace
}  // namespace fullbore::diagnose
