#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;
using testing::simulate;
using testing::Simulation;

// Two workers on two cores, whose library runs threads beside the main one.
Simulation two_workers() {
  return {.workers = 2, .body_ms = 20, .sample_ms = 2, .cores = 2};
}

record::Run with_threads(const Simulation& simulation, double threads, double cpu_s, double runq_s,
                         double tree_runq_s) {
  testing::RunBuilder builder;
  simulate_into(builder, simulation);
  const std::int64_t end = *builder.run.info.end_ns;
  builder.gauge("workers.threads", threads);
  builder.counter("workers.helper_cpu_s", cpu_s, end);
  builder.counter("workers.helper_runq_s", runq_s, end);
  builder.counter("tree.runq_s", tree_runq_s, end);
  return builder.take();
}

TEST(ThreadOversubscription, IsNamedWithTheVariablesThatLimitThreads) {
  const Diagnosis diagnosis = diagnose(with_threads(two_workers(), 9, 1, 3, 3.5));
  EXPECT_EQ(diagnosis.verdict.cause, "thread_oversubscription");
  EXPECT_EQ(diagnosis.verdict.stage, "decode");
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("run 9 threads each"));
  EXPECT_THAT(diagnosis.causes[0].fix.text, HasSubstr("OMP_NUM_THREADS=1"));
  ASSERT_EQ(diagnosis.causes[0].fix.settings.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].fix.settings[0].name, "worker_threads");
  EXPECT_EQ(diagnosis.causes[0].fix.settings[0].after, "1");
}

TEST(ThreadOversubscription, TakesThePlaceOfBusyCores) {
  for (const Cause& cause : diagnose(with_threads(two_workers(), 9, 1, 3, 3.5)).causes)
    EXPECT_NE(cause.cause, "cpu_saturated");
}

TEST(ThreadOversubscription, IsNotNamedForOneThreadPerWorker) {
  EXPECT_EQ(diagnose(with_threads(two_workers(), 2, 0.01, 0.01, 0.3)).verdict.cause, "cpu_saturated");
}

TEST(ThreadOversubscription, IsNotNamedWhereThreadsFindCores) {
  Simulation simulation = two_workers();
  simulation.cores = 16;
  EXPECT_EQ(diagnose(with_threads(simulation, 5, 2, 0.1, 0.1)).verdict.cause, "too_few_workers");
}

TEST(ThreadOversubscription, IsNotNamedWhereTheWorkersAloneAreTooMany) {
  Simulation simulation = two_workers();
  simulation.workers = 8;
  EXPECT_EQ(diagnose(with_threads(simulation, 3, 0.5, 2, 9)).verdict.cause, "too_many_workers");
}

}  // namespace
}  // namespace fullbore::diagnose
