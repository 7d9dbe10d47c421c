#include "diagnose/replay/simulate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/replay/random.h"

namespace fullbore::diagnose::replay {
namespace {

// Batches that cost `cpu` on a core and `blocked` elsewhere, bodies in which an accelerator computes.
Loop loop_of(int workers, double cpu, double blocked, double body, double cores = 16) {
  Loop loop;
  BatchCost cost;
  cost.fetch_cpu = cpu;
  cost.fetch_blocked = blocked;
  loop.batches = {{cost}};
  loop.bodies = {{0, body}};
  loop.workers = workers;
  loop.cores = cores;
  loop.warmup = 20;
  return loop;
}

// Blocked times from an exponential distribution.
Loop exponential(int workers, double mean, double body, std::size_t count) {
  Loop loop = loop_of(workers, 0, 0, body);
  loop.batches.front().clear();
  for (std::size_t i = 0; i < count; ++i) {
    BatchCost cost;
    cost.fetch_blocked = -mean * std::log(random_unit(1, 1, i));
    loop.batches.front().push_back(cost);
  }
  return loop;
}

TEST(Simulate, AddsMakingAndTrainingUpWithoutWorkers) {
  const Outcome outcome = simulate(loop_of(0, 30, 10, 20), {});
  EXPECT_NEAR(outcome.step_ms, 60, 1e-6);
  EXPECT_NEAR(outcome.wait_ms, 40, 1e-6);
}

TEST(Simulate, HidesMakingBehindTraining) {
  const Outcome outcome = simulate(loop_of(2, 30, 0, 20), {});
  EXPECT_NEAR(outcome.step_ms, 20, 1e-6);
  EXPECT_NEAR(outcome.wait_ms, 0, 1e-6);
}

TEST(Simulate, DividesTheWorkAmongEqualWorkers) {
  for (const int workers : {1, 2, 3, 4}) {
    const Outcome outcome = simulate(loop_of(workers, 120, 0, 10), {});
    EXPECT_NEAR(outcome.step_ms, 120.0 / workers, 0.1) << workers;
    EXPECT_NEAR(outcome.workers_busy, 1, 0.02) << workers;
  }
}

TEST(Simulate, GivesFourWorkersOnTwoCoresTheRateOfTwo) {
  const Outcome outcome = simulate(loop_of(4, 120, 0, 10, 2), {});
  EXPECT_NEAR(outcome.step_ms, 60, 0.5);
  EXPECT_NEAR(outcome.cores_busy, 1, 0.01);
}

// All four begin together and so meet at the core together: 110 ms blocked, then 40 ms in which they share it.
TEST(Simulate, LetsBlockedWorkersShareACore) {
  const Outcome outcome = simulate(loop_of(4, 10, 110, 0, 1), {});
  EXPECT_NEAR(outcome.step_ms, 150.0 / 4, 0.1);
}

TEST(Simulate, CountsTheCoreOfTheLoopItself) {
  Loop loop = loop_of(2, 80, 0, 0, 2);
  loop.bodies = {{40, 0}};  // 120 ms of work per step for two cores
  EXPECT_NEAR(simulate(loop, {}).step_ms, 60, 0.5);
}

TEST(Simulate, IsBoundByTheServerThatDoesOneBatchAfterTheOther) {
  Loop loop = loop_of(8, 40, 0, 5);
  loop.handoff.pin = 30;
  const Outcome outcome = simulate(loop, {});
  EXPECT_NEAR(outcome.step_ms, 30, 0.01);
  EXPECT_GT(outcome.pin_busy, 0.97);
}

TEST(Simulate, IsBoundByTheDeviceWhateverTheWorkers) {
  Loop loop = loop_of(4, 0, 0, 5);
  loop.batches.front().front().device_bytes = 4e6;
  loop.device_bytes_per_ms = 1e5;
  for (const int workers : {1, 4, 16}) {
    loop.workers = workers;
    EXPECT_NEAR(simulate(loop, {}).step_ms, 40, 1) << workers;
  }
}

// In order of delivery everybody waits for the slow one: four batches per 400 ms.
TEST(Simulate, WaitsForTheHeadOfTheLine) {
  Loop loop = loop_of(4, 0, 40, 5);
  loop.batches.resize(4, loop.batches.front());
  loop.batches[1].front().fetch_blocked = 400;
  const Outcome outcome = simulate(loop, {});
  EXPECT_NEAR(outcome.step_ms, 100, 1);
  EXPECT_GT(outcome.in_line, 0.5);
}

// One worker that keeps one batch ahead: a step is the longer of making and training, and for exponential times of
// making E[max(X, d)] = d + m exp(-d / m).
TEST(Simulate, AlternatesWithADepthOfOne) {
  Loop loop = exponential(1, 30, 40, 20'000);
  loop.prefetch = 1;
  EXPECT_NEAR(simulate(loop, {.steps = 20'000}).step_ms, 40 + 30 * std::exp(-40.0 / 30), 0.3);
}

// A deep queue of Poisson arrivals before a server of constant time is M/D/1: a batch that leaves finds
// L = rho + rho^2 / (2 (1 - rho)) others there.
TEST(Simulate, QueuesLikeMD1) {
  Loop loop = exponential(1, 50, 35, 100'000);
  loop.prefetch = 1000;
  loop.warmup = 1000;
  const Outcome outcome = simulate(loop, {.steps = 100'000});
  constexpr double kRho = 35.0 / 50;
  EXPECT_NEAR(outcome.step_ms, 50, 1);
  EXPECT_NEAR(outcome.ready, kRho + kRho * kRho / (2 * (1 - kRho)), 0.1);
}

TEST(Simulate, KeepsNoMoreBatchesAheadThanItIsAllowed) {
  Loop loop = loop_of(2, 10, 0, 100);
  loop.prefetch = 3;
  EXPECT_NEAR(simulate(loop, {}).ready, 6, 0.1);
}

TEST(Simulate, CountsTheEdgesOfEpochs) {
  Loop loop = loop_of(2, 10, 0, 20);
  loop.edges.batches = 10;
  loop.edges.several = true;
  loop.edges.create = 5;
  loop.edges.start = 100;
  loop.edges.stop = 50;
  loop.edges.fixed_per_step = 7;
  // The first batch is there after start + making; then the loop is the limit.
  EXPECT_NEAR(simulate(loop, {}).whole_ms, (100 + 10 + 10 * 20 + 50) / 10.0 + 7, 1e-6);
}

TEST(Simulate, PlaysTheBeginningOfALongEpochForTheWhole) {
  Loop loop = loop_of(2, 10, 0, 20);
  loop.edges.batches = 1'000'000;
  loop.edges.start = 1000;
  const Outcome outcome = simulate(loop, {});
  EXPECT_NEAR(outcome.step_ms, 20, 1e-6);
  EXPECT_NEAR(outcome.whole_ms, 20.001, 1e-3);
}

TEST(Simulate, GivesTheSameForTheSameDraw) {
  const Loop loop = exponential(3, 100, 30, 500);
  const Outcome first = simulate(loop, {.seed = 5}), again = simulate(loop, {.seed = 5});
  EXPECT_EQ(first.step_ms, again.step_ms);
  EXPECT_NE(first.step_ms, simulate(loop, {.seed = 6}).step_ms);
}

// They all finish together, so what a beginning and an end cut off of a burst counts.
TEST(Simulate, PlaysMoreWorkersThanItPlaysSteps) {
  const Outcome outcome = simulate(loop_of(128, 128 * 20, 0, 10, 128), {});
  EXPECT_NEAR(outcome.step_ms, 20, 2);
}

TEST(Simulate, HasNothingToSayOfALoopWithoutBatches) {
  EXPECT_EQ(simulate(Loop{}, {}).step_ms, 0);
}

}  // namespace
}  // namespace fullbore::diagnose::replay
