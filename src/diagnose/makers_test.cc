#include "diagnose/makers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::simulate;

Makers collect(const record::Run& run) {
  const auto trainers = find_trainers(run);
  return collect_makers(trainers.at(0), cut_iterations(trainers.at(0)));
}

TEST(Makers, BusyWorkersNeverWaitForAnIndex) {
  EXPECT_GT(*collect(simulate({.workers = 2, .body_ms = 10, .sample_ms = 4})).busy, 0.95);
  EXPECT_LT(*collect(simulate({.workers = 2, .body_ms = 100, .sample_ms = 1})).busy, 0.3);
}

TEST(Makers, ABusyWorkerIsNotIdleBecauseTheLoopStoodStill) {
  const record::Run run =
      simulate({.workers = 1, .body_ms = 10, .sample_ms = 4, .checkpoint_every = 10, .checkpoint_ms = 2000});
  const auto trainers = find_trainers(run);
  const Iterations iterations = cut_iterations(trainers.at(0));
  std::vector<Span> pauses;
  for (const auto& interval : run.ranks[0].intervals)
    pauses.emplace_back(interval.record.begin_ns, interval.record.end_ns);
  EXPECT_LT(*collect_makers(trainers.at(0), iterations).busy, 0.7);
  EXPECT_GT(*collect_makers(trainers.at(0), iterations, merged(std::move(pauses))).busy, 0.9);
}

TEST(Makers, ATypicalSampleIsNotDrivenByTheSlowest) {
  const Makers makers = collect(simulate({.workers = 2, .sample_ms = 2, .slow_every = 40, .slow_ms = 300}));
  EXPECT_NEAR(*makers.sample_ns, 2e6, 1e5);
}

TEST(Makers, SharesOfMakingAddUp) {
  const Makers makers =
      collect(simulate({.workers = 4, .sample_ms = 2, .cpu_share = 0.75, .collate_ms = 0, .cores = 2}));
  EXPECT_NEAR(*makers.cpu_share() + *makers.runnable_share() + *makers.blocked_share(), 1, 1e-9);
  EXPECT_GT(*makers.runnable_share(), 0.2);
}

TEST(Makers, WhatWasNotMeasuredIsAbsent) {
  record::Run run = simulate({.workers = 2, .sample_ms = 2});
  for (auto& batch : run.ranks[0].batches) {
    batch.record.cpu_ns = batch.record.idle_ns = batch.record.read_bytes = wire::kUnknown;
    batch.record.samples = wire::kUnknown32;
  }
  const Makers makers = collect(run);
  EXPECT_FALSE(makers.cpu_share());
  EXPECT_FALSE(makers.busy);
  EXPECT_FALSE(makers.sample_ns);
  EXPECT_FALSE(makers.totals.read_bytes);
  EXPECT_TRUE(makers.batch_ms());
}

TEST(Makers, WorkersOfAnotherTrainerAreNotOurs) {
  record::Run run = simulate({.workers = 2, .batches = 30});
  auto& rank = run.ranks[0];
  const std::size_t ours = rank.batches.size();
  for (std::size_t i = 0; i < ours; ++i) {
    auto foreign = rank.batches[i];
    foreign.pid = 999;
    rank.batches.push_back(foreign);
  }
  auto process = testing::process_record(wire::Role::kWorker, 900);
  rank.processes.push_back({process, 999, 999});
  std::size_t made = 0;
  for (const Maker& maker : collect(run).workers) made += maker.made.size();
  EXPECT_EQ(made, ours);
}

TEST(Makers, ForkserverChildrenAreKnownByTheirSeed) {
  record::Run run = simulate({.workers = 2, .batches = 30});
  for (auto& process : run.ranks[0].processes) process.record.parent_pid = 4242;
  EXPECT_EQ(collect(run).workers.size(), 2u);
}

TEST(Makers, RecordsWithTimesOutOfOrderAreLeftOut) {
  record::Run run = simulate({.workers = 1, .batches = 30});
  run.ranks[0].batches[3].record.put_ns = 0;
  EXPECT_EQ(collect(run).workers.at(0).made.size(), 29u);
}

}  // namespace
}  // namespace fullbore::diagnose
