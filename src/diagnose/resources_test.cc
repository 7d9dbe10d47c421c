#include "diagnose/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;
using testing::RunBuilder;
using testing::simulate;

Resources measure(const record::Run& run) {
  const auto trainers = find_trainers(run);
  return measure_resources(run, trainers.empty() ? Iterations{} : cut_iterations(trainers[0]));
}

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(RateIn, IsTheSlopeInsideTheWindow) {
  const record::Series series{"tree.cpu_s", "", "s", wire::SeriesKind::kCounter, {0, 10 * kSecond, 20 * kSecond},
                              {0, 10, 40}};
  EXPECT_THAT(rate_in(&series, 12 * kSecond, 16 * kSecond), Optional(DoubleNear(3, 1e-9)));
}

TEST(RateIn, IsAbsentWhereNothingWasRead) {
  EXPECT_FALSE(rate_in(nullptr, 0, kSecond));
  const record::Series late{"x", "", "", wire::SeriesKind::kCounter, {10 * kSecond}, {5}};
  EXPECT_FALSE(rate_in(&late, 0, kSecond));
}

TEST(MeanIn, TakesAValueThatHoldsFromBefore) {
  const record::Series series{"x", "", "", wire::SeriesKind::kGauge, {0}, {4}};
  EXPECT_THAT(mean_in(&series, 5 * kSecond, 6 * kSecond), Optional(4.0));
}

TEST(Resources, FreeCoresAreUsableLessTheTreeAndItsNeighbours) {
  RunBuilder builder;
  testing::simulate_into(builder, {.workers = 0, .body_ms = 50, .sample_ms = 1.6, .cores = 8, .neighbour_cores = 3});
  const Resources resources = measure(builder.take());
  EXPECT_THAT(resources.tree_cores, Optional(DoubleNear(0.52, 0.03)));
  EXPECT_THAT(resources.neighbour_cores, Optional(DoubleNear(3, 0.01)));
  EXPECT_THAT(resources.free_cores, Optional(DoubleNear(8 - 0.52 - 3, 0.05)));
}

TEST(Resources, RanksShareTheCoresOfTheirHost) {
  RunBuilder builder;
  testing::simulate_into(builder, {.cores = 8, .rank = 0});
  testing::simulate_into(builder, {.cores = 8, .rank = 1});
  EXPECT_THAT(measure(builder.take()).rank_cores, Optional(4.0));
}

TEST(Resources, WithoutSamplersNothingIsKnown) {
  record::Run run = simulate({});
  run.series.clear();
  const Resources resources = measure(run);
  EXPECT_FALSE(resources.usable_cores);
  EXPECT_FALSE(resources.free_cores);
  for (const auto& [name, value] : resources.system) EXPECT_FALSE(value) << name;
}

}  // namespace
}  // namespace fullbore::diagnose
