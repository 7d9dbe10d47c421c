#include "feed/image/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fullbore::image {
namespace {

Plan make(std::uint64_t samples, const PlanOptions& options) {
  auto plan = Plan::make(samples, options);
  EXPECT_TRUE(plan) << plan.error().message();
  return *plan;
}

// What the ranks together see at each step, as sets: which rank has which sample may differ.
std::vector<std::set<std::uint64_t>> steps(std::uint64_t samples, PlanOptions options) {
  std::vector<std::set<std::uint64_t>> seen;
  for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
    const Plan plan = make(samples, options);
    const Plan::Epoch epoch(plan, 5);
    seen.resize(plan.batches());
    for (std::uint64_t b = 0; b < plan.batches(); ++b) {
      for (std::uint64_t i = 0; i < plan.batch_samples(b); ++i) seen[b].insert(epoch.sample(b, i));
    }
  }
  return seen;
}

TEST(PlanTest, StepsAreTheSameForAnyWorldSizeAtTheSameGlobalBatch) {
  const auto alone = steps(1000, {.batch_size = 24, .seed = 9});
  EXPECT_EQ(alone, steps(1000, {.batch_size = 12, .seed = 9, .world_size = 2}));
  EXPECT_EQ(alone, steps(1000, {.batch_size = 3, .seed = 9, .world_size = 8}));
}

TEST(PlanTest, WithoutShufflingTheOrderIsThatOfTheFiles) {
  const Plan plan = make(10, {.batch_size = 4, .shuffle = false, .drop_last = false});
  const Plan::Epoch epoch(plan, 3);
  EXPECT_EQ(plan.batches(), 3u);
  EXPECT_EQ(plan.batch_samples(2), 2u);
  EXPECT_EQ(epoch.sample(2, 1), 9u);
}

TEST(PlanTest, DroppedAndPaddedSamplesAreCounted) {
  const Plan dropping = make(10, {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(dropping.batches(), 2u);
  EXPECT_EQ(dropping.dropped(), 2u);
  const Plan padding = make(10, {.batch_size = 2, .world_size = 4, .drop_last = false, .uneven = Uneven::kPad});
  EXPECT_EQ(padding.batches(), 2u);
  EXPECT_EQ(padding.batch_samples(1), 1u);
  EXPECT_EQ(padding.padded(), 2u);
  const Plan cutting = make(10, {.batch_size = 2, .world_size = 4, .drop_last = false, .uneven = Uneven::kDrop});
  EXPECT_EQ(cutting.batches(), 1u);
  EXPECT_EQ(cutting.dropped(), 2u);
  EXPECT_EQ(cutting.padded(), 0u);
}

TEST(PlanTest, PaddingTakesTheFirstSamplesAgain) {
  PlanOptions options{.batch_size = 3, .shuffle = false, .world_size = 4, .drop_last = false};
  options.rank = 3;
  const Plan plan = make(10, options);
  const Plan::Epoch epoch(plan, 0);
  EXPECT_EQ(epoch.sample(0, 1), 7u);
  EXPECT_EQ(epoch.sample(0, 2), 1u);  // place 11
}

TEST(PlanTest, WhatMakesNoBatchIsRefusedWithTheWayOut) {
  const auto small = Plan::make(7, {.batch_size = 8});
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message().find("7 samples make no batch of 8"), std::string::npos);
  EXPECT_FALSE(Plan::make(7, {.batch_size = 0}));
  EXPECT_FALSE(Plan::make(7, {.batch_size = 1, .rank = 2, .world_size = 2}));
  EXPECT_FALSE(Plan::make(0, {.batch_size = 1}));
}

}  // namespace
}  // namespace fullbore::image
