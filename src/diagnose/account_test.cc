#include "diagnose/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using testing::interval_record;
using testing::kTrainerPid;
using testing::ms;
using testing::simulate;

struct Accounts {
  Accounted steady, whole;
};

Accounts account(const record::Run& run) {
  const auto trainers = find_trainers(run);
  const Iterations iterations = cut_iterations(trainers.at(0));
  const auto stretches = exclusive_stretches(trainers.at(0), iterations);
  return {account_steady(stretches, iterations), account_whole(stretches, iterations)};
}

double sum_of_shares(const Account& account) {
  double sum = 0;
  for (const auto& [id, part] : account.parts) sum += part.share;
  return sum;
}

// Adds a stretch to every iteration, offset from the end of its wait.
void add_to_each(record::Run& run, wire::IntervalKind kind, double from_ms, double to_ms) {
  for (const auto& next : run.ranks[0].nexts) {
    if ((next.record.flags & wire::kStop) != 0) continue;
    run.ranks[0].intervals.push_back(
        {interval_record(kind, next.record.end_ns + ms(from_ms), next.record.end_ns + ms(to_ms)), kTrainerPid,
         kTrainerPid});
  }
}

TEST(Account, PartsSumToTheStep) {
  record::Run run = simulate({.workers = 2,
                              .epochs = 3,
                              .batches = 30,
                              .sample_ms = 4,
                              .persistent = false,
                              .start_ms = 300,
                              .checkpoint_every = 7,
                              .checkpoint_ms = 80,
                              .validation_ms = 200});
  add_to_each(run, wire::IntervalKind::kBlockingRead, 10, 20);
  add_to_each(run, wire::IntervalKind::kLogging, 15, 18);
  add_to_each(run, wire::IntervalKind::kCopyCall, 1, 2);
  const Accounts accounts = account(run);
  EXPECT_NEAR(sum_of_shares(to_account(accounts.steady, true)), 1, 1e-9);
  EXPECT_NEAR(sum_of_shares(to_account(accounts.whole, true)), 1, 1e-9);
}

TEST(Account, AnInstantBelongsToOnePartOnly) {
  record::Run run = simulate({.workers = 0, .body_ms = 50, .sample_ms = 1});
  add_to_each(run, wire::IntervalKind::kBlockingRead, 10, 30);
  add_to_each(run, wire::IntervalKind::kLogging, 20, 25);
  const Account steady = to_account(account(run).steady, true);
  EXPECT_NEAR(steady.parts.at("logging").ms, 5, 1e-6);
  EXPECT_NEAR(steady.parts.at("host_sync").ms, 15, 1e-6);
  EXPECT_NEAR(steady.parts.at("model").ms, 30, 1e-6);
}

TEST(Account, BlockingReadsOfADatasetBelongToTheWait) {
  record::Run run = simulate({.workers = 0, .body_ms = 50, .sample_ms = 1});
  add_to_each(run, wire::IntervalKind::kBlockingRead, -10, 0);
  const Account steady = to_account(account(run).steady, true);
  EXPECT_DOUBLE_EQ(steady.parts.at("host_sync").ms, 0);
  EXPECT_NEAR(steady.parts.at("input_wait").ms, 33.2, 1e-6);
}

TEST(Account, OtherThreadsDoNotCount) {
  record::Run run = simulate({.workers = 0});
  add_to_each(run, wire::IntervalKind::kLogging, 10, 20);
  for (auto& interval : run.ranks[0].intervals) interval.tid += 1;
  EXPECT_DOUBLE_EQ(account(run).steady.claim_ns(Claim::kLogging), 0);
}

TEST(Account, EpochEdgesAreInTheWholeOnly) {
  const record::Run run = simulate({.workers = 2,
                                    .epochs = 4,
                                    .batches = 30,
                                    .sample_ms = 0.3,
                                    .persistent = false,
                                    .start_ms = 500,
                                    .stop_ms = 100});
  const Accounts accounts = account(run);
  EXPECT_LT(accounts.steady.share(Claim::kInputWait), 0.02);
  // 3.4 ends and 3 starts in about 7.6 s
  EXPECT_NEAR(accounts.whole.claim_ns(Claim::kInputWait) / 1e6, 4 * 100 + 3 * 510, 80);
}

TEST(Account, WhatIsNotMeasuredIsAbsentAndTheBodyUnknown) {
  record::Run run = simulate({.workers = 0});
  run.ranks[0].nexts.clear();
  const Account steady = to_account(account(run).steady, false);
  EXPECT_FALSE(steady.parts.contains("input_wait"));
  EXPECT_FALSE(steady.parts.contains("model"));
  EXPECT_FALSE(steady.parts.contains("gpu_compute"));
  EXPECT_NEAR(steady.parts.at("unknown").share, 1, 1e-9);
}

TEST(Account, LostRecordsAreUnknown) {
  record::Run run = simulate({.workers = 2, .batches = 100, .body_ms = 50, .sample_ms = 0.3});
  auto& nexts = run.ranks[0].nexts;
  nexts.erase(nexts.begin() + 30, nexts.begin() + 40);
  EXPECT_NEAR(account(run).whole.unknown_ns / 1e6, 11 * 50, 5);
}

TEST(Account, WaitForACompanionLoaderIsInputWait) {
  record::Run run = simulate({.workers = 0, .body_ms = 50, .sample_ms = 1, .handoff_ms = 0});
  auto& nexts = run.ranks[0].nexts;
  for (std::size_t i = 0, count = nexts.size(); i < count; ++i) {
    if ((nexts[i].record.flags & wire::kStop) != 0) continue;
    auto next = nexts[i];
    next.record.loader = 2;
    next.record.begin_ns = nexts[i].record.end_ns + ms(1);
    next.record.end_ns = next.record.begin_ns + ms(5);
    nexts.push_back(next);
  }
  std::ranges::stable_sort(nexts, {}, [](const auto& next) { return next.record.begin_ns; });
  EXPECT_NEAR(to_account(account(run).steady, true).parts.at("input_wait").ms, 38, 0.5);
}

}  // namespace
}  // namespace fullbore::diagnose
