#include "diagnose/replay/predict.h"

#include <gtest/gtest.h>

#include "diagnose/replay/record_loop.h"
#include "diagnose/situation.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose::replay {
namespace {

using testing::Simulation;

// 32 samples of 3 ms and a body of 50 ms.
Simulation slow_input(int workers) {
  return {.workers = workers, .body_ms = 50, .sample_ms = 3};
}

Change workers(int count) {
  Change change;
  change.workers = count;
  return change;
}

class Replayed : public ::testing::Test {
 protected:
  Calibration calibrated(const record::Run& run) {
    run_ = run;
    trainers_ = find_trainers(run_);
    situation_ = assess(run_, trainers_.at(0));
    return situation_.replay;
  }
  Calibration calibrated(const Simulation& simulation) { return calibrated(testing::simulate(simulation)); }

  record::Run run_;
  std::vector<Trainer> trainers_;
  Situation situation_;
};

TEST_F(Replayed, ExplainsLoopsWithAndWithoutWorkers) {
  for (const int count : {0, 1, 2, 3}) {
    const Calibration calibration = calibrated(slow_input(count));
    EXPECT_TRUE(calibration.explains()) << calibration.why;
    EXPECT_NEAR(calibration.error, 0, 0.03) << count;
  }
}

TEST_F(Replayed, PredictsTheStepOfARunWithMoreWorkers) {
  const double measured = calibrated(slow_input(2)).loop->step_ms;
  const Calibration calibration = calibrated(slow_input(1));
  EXPECT_NEAR(predict(calibration, workers(2))->after_ms, measured, 0.05 * measured);
}

TEST_F(Replayed, ExpectsProcessesToCostMoreThanTheLoopItself) {
  const double ideal = calibrated(slow_input(1)).loop->step_ms;
  const auto prediction = predict(calibrated(slow_input(0)), workers(1));
  ASSERT_TRUE(prediction);
  EXPECT_GT(prediction->after_ms, ideal);
  EXPECT_LT(prediction->after_ms, 1.25 * ideal);
}

TEST_F(Replayed, RefusesARunThatItDoesNotExplain) {
  Simulation simulation = slow_input(2);
  simulation.body_ms = 5;
  record::Run run = testing::simulate(simulation);
  // Two thirds of each batch's time are said to be spent in line for one of eight cores, which nobody else uses.
  for (auto& batch : run.ranks[0].batches) batch.record.cpu_ns /= 3, batch.record.runq_ns = batch.record.cpu_ns * 2;
  const Calibration calibration = calibrated(run);
  EXPECT_FALSE(calibration.explains());
  EXPECT_NE(calibration.why.find("were measured"), std::string::npos);
  EXPECT_FALSE(predict(calibration, workers(4)));
}

TEST_F(Replayed, RefusesARunWithoutBatchRecords) {
  record::Run run = testing::simulate(slow_input(2));
  run.ranks[0].batches.clear();
  EXPECT_EQ(calibrated(run).why, "too many batches have no record of how they were made");
}

TEST_F(Replayed, RefusesAGpuThatTheLoopRunsAheadOf) {
  Simulation simulation = slow_input(2);
  simulation.device = "cuda:0";
  EXPECT_FALSE(calibrated(simulation).explains());
}

TEST_F(Replayed, MakesASlowWorkerLikeTheOthers) {
  Simulation simulation = slow_input(4);
  simulation.worker_factor = {1, 6};
  const Calibration calibration = calibrated(simulation);
  ASSERT_TRUE(calibration.explains()) << calibration.why;
  Change change;
  change.even_worker = 1;
  EXPECT_NEAR(predict(calibration, change)->after_ms, 50, 3);
}

TEST_F(Replayed, TakesSlowSamplesOut) {
  Simulation simulation = slow_input(2);
  simulation.sample_ms = 1;
  simulation.slow_every = 96;
  simulation.slow_ms = 300;
  const Calibration calibration = calibrated(simulation);
  ASSERT_TRUE(calibration.explains()) << calibration.why;
  EXPECT_GT(calibration.loop->step_ms, 70);
  Change change;
  change.even_samples = true;
  EXPECT_NEAR(predict(calibration, change)->after_ms, 50, 3);
}

TEST_F(Replayed, KeepsWorkersOverEpochs) {
  Simulation simulation = slow_input(3);
  simulation.epochs = 6;
  simulation.batches = 30;
  simulation.persistent = false;
  simulation.start_ms = 800;
  simulation.stop_ms = 200;
  const Calibration calibration = calibrated(simulation);
  ASSERT_TRUE(calibration.explains_whole()) << calibration.why << calibration.whole_error;
  Change change;
  change.persistent = true;
  const auto prediction = predict(calibration, change);
  EXPECT_NEAR(prediction->before_ms - prediction->after_ms, 1000.0 / 30, 3);
}

TEST_F(Replayed, PutsTheTruthIntoItsInterval) {
  const double measured = calibrated(slow_input(3)).loop->step_ms;
  const Calibration calibration = calibrated(slow_input(1));
  const auto prediction = predict(calibration, workers(3));
  const Interval interval = interval_of(calibration, workers(3), *prediction);
  EXPECT_LT(interval.low, calibration.loop->step_ms / measured);
  EXPECT_GT(interval.high, calibration.loop->step_ms / measured);
  EXPECT_LT(interval.high / interval.low, 1.4);
}

TEST_F(Replayed, GivesTheSameIntervalTwice) {
  const Calibration calibration = calibrated(slow_input(1));
  const auto prediction = predict(calibration, workers(3));
  EXPECT_EQ(interval_of(calibration, workers(3), *prediction).low,
            interval_of(calibration, workers(3), *prediction).low);
}

TEST_F(Replayed, NamesTheLimitThatComesNext) {
  Simulation simulation = slow_input(1);
  simulation.cores = 2;
  simulation.body_ms = 5;
  const Calibration calibration = calibrated(simulation);
  const Loop changed = apply(*calibration.loop, workers(2));
  EXPECT_EQ(limit_of(changed, simulate(changed, {})).limit, "cores");
  const Calibration roomy = calibrated(slow_input(1));
  const Loop enough = apply(*roomy.loop, workers(4));
  EXPECT_EQ(limit_of(enough, simulate(enough, {})).limit, "model");
}

TEST(Both, IsBothChanges) {
  Change cheaper;
  cheaper.sample_cpu = 0.5;
  cheaper.words = "cheaper";
  Change more = workers(4);
  more.sample_cpu = 0.5;
  const auto change = both(cheaper, more);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->workers, 4);
  EXPECT_DOUBLE_EQ(change->sample_cpu, 0.25);
  EXPECT_FALSE(both(workers(2), workers(3)));
}

TEST(Apply, TakesPausesOffTheLongestBodies) {
  Loop loop;
  loop.bodies = {{10, 0}, {10, 100}, {10, 0}, {10, 20}};
  Change change;
  change.body_less_ms = 25;
  const Loop changed = apply(loop, change);
  const auto wall = [](const BodyCost& body) { return body.cpu + body.blocked; };
  EXPECT_NEAR(wall(changed.bodies[0]), 10, 1e-9);
  EXPECT_NEAR(wall(changed.bodies[1]), 20, 1e-9);
  EXPECT_NEAR(wall(changed.bodies[3]), 20, 1e-9);
  change.body_less_ms = 1000;
  EXPECT_EQ(wall(apply(loop, change).bodies[1]), 0);
}

TEST(Apply, CanTakeThePinThreadAwayAlone) {
  Loop loop;
  loop.handoff = {.dispatch = 1, .transit = 2, .pin = 3, .receive = 4, .sampler = 0};
  Change change;
  change.pin = 0;
  const Handoff handoff = apply(loop, change).handoff;
  EXPECT_EQ(handoff.pin, 0);
  EXPECT_EQ(handoff.transit, 2);
  EXPECT_EQ(handoff.receive, 4);
}

TEST(KeptPositions, AreStretchesFromTheBeginningToTheEnd) {
  const auto kept = kept_positions(1'000'000);
  ASSERT_EQ(kept.size(), kKept);
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept[kStretch - 1], kStretch - 1);
  EXPECT_EQ(kept.back(), 999'999u);
  EXPECT_EQ(kept_positions(30).size(), 30u);
}

}  // namespace
}  // namespace fullbore::diagnose::replay
