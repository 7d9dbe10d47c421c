// Memory that workers give back and fetch again: told from other time in the kernel, and which causes offer to keep it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/causes/conditions.h"
#include "diagnose/diagnose.h"
#include "diagnose/situation.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::simulate;
using testing::Simulation;

Simulation two_on_two(double kernel_share) {
  return {.workers = 2, .body_ms = 20, .sample_ms = 3, .cores = 2, .kernel_share = kernel_share};
}

auto setting(const char* name, const char* after) {
  return AllOf(Field(&Setting::name, name), Field(&Setting::after, after));
}

TEST(KeptMemory, IsTheFirstChangeWhereCoresAreFull) {
  const Diagnosis diagnosis = diagnose(simulate(two_on_two(0.4)));
  ASSERT_EQ(diagnosis.verdict.cause, "cpu_saturated");
  const Cause& cause = diagnosis.causes.front();
  EXPECT_THAT(cause.fix.settings, ElementsAre(setting("keep_freed_memory", "True")));
  EXPECT_THAT(cause.fix.text, AllOf(HasSubstr("worker_init_fn=fullbore.keep_freed_memory"), HasSubstr("then")));
  EXPECT_THAT(cause.summary, AllOf(HasSubstr("40 % of the workers' CPU time"), HasSubstr("keep the memory")));
  ASSERT_TRUE(cause.gain.predicted);
  EXPECT_GT(*cause.gain.predicted, 1.3);
}

TEST(KeptMemory, GoesWithMoreWorkersWhereCoresAreFree) {
  Simulation simulation = two_on_two(0.3);
  simulation.cores = 4;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  ASSERT_EQ(diagnosis.verdict.cause, "too_few_workers");
  EXPECT_THAT(diagnosis.causes.front().fix.settings,
              ElementsAre(Field(&Setting::name, "num_workers"), setting("keep_freed_memory", "True")));
  EXPECT_EQ(diagnosis.causes.front().gain.with.substr(diagnosis.causes.front().gain.with.find("that")),
            "that keep the memory they free");
}

TEST(KeptMemory, IsNotOfferedForOtherTimeInTheKernel) {
  Simulation simulation = two_on_two(0.4);
  simulation.faults_us = 40;  // a sixteenth of the faults that would explain it
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  ASSERT_EQ(diagnosis.verdict.cause, "cpu_saturated");
  EXPECT_THAT(diagnosis.causes.front().fix.settings, IsEmpty());
}

TEST(KeptMemory, IsNotOfferedBelowATenthOfTheWorkersTime) {
  EXPECT_THAT(diagnose(simulate(two_on_two(0.08))).causes.front().fix.settings, IsEmpty());
}

TEST(KeptMemory, IsNotOfferedWhereOthersTakeTheCores) {
  Simulation simulation = two_on_two(0.4);
  simulation.cores = 6;
  simulation.neighbour_cores = 4;
  const Diagnosis diagnosis = diagnose(simulate(simulation));
  ASSERT_EQ(diagnosis.verdict.cause, "cpu_saturated");
  EXPECT_THAT(diagnosis.causes.front().fix.settings, IsEmpty());
  EXPECT_THAT(diagnosis.causes.front().fix.text, HasSubstr("end the other programs"));
}

class Refetched : public ::testing::Test {
 protected:
  std::optional<double> share(const Simulation& simulation, double batch_mb = 0) {
    run_ = simulate(simulation);
    trainers_ = find_trainers(run_);
    situation_ = assess(run_, trainers_.at(0));
    situation_.loader.batch_mb = batch_mb;
    return refetched_memory_share(situation_);
  }
  record::Run run_;
  std::vector<Trainer> trainers_;
  Situation situation_;
};

TEST_F(Refetched, LeavesTheBatchItselfOut) {
  const double all = *share(two_on_two(0.4));
  EXPECT_NEAR(all, 0.4, 0.01);
  // 20 MB are 4,883 new pages per batch, 12.2 ms of about 95 ms of work.
  EXPECT_NEAR(*share(two_on_two(0.4), 20), all - 12.2 / 98, 0.02);
}

TEST_F(Refetched, IsNotMeasuredWithoutTheWorkersCounters) {
  EXPECT_FALSE(share(two_on_two(0)));
}

TEST_F(Refetched, IsNoMatterOfALoopWithoutWorkers) {
  Simulation simulation = two_on_two(0.4);
  simulation.workers = 0;
  EXPECT_FALSE(share(simulation));
}

}  // namespace
}  // namespace fullbore::diagnose
