#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::HasSubstr;

constexpr double kMiB = 1048576;

void readings(testing::RunBuilder& builder, const char* metric, const std::string& label, std::vector<double> mib) {
  record::Series series{metric, label, "", wire::SeriesKind::kGauge, {}, {}};
  for (std::size_t i = 0; i < mib.size(); ++i) {
    series.time_ns.push_back(builder.run.info.start_ns + static_cast<std::int64_t>(i) * 10'000'000'000);
    series.value.push_back(mib[i] * kMiB);
  }
  builder.run.series.push_back(series);
}

// Two workers of these sizes, read every 10 s, on a machine that has so much memory left.
record::Run grown(const std::vector<double>& worker_mib, const std::vector<double>& available_mib) {
  testing::RunBuilder builder;
  testing::simulate_into(builder, {.workers = 2, .batches = 1000});
  for (const auto& batch : builder.rank().batches) {
    if (builder.run.find("process.rss_bytes", std::to_string(batch.pid)) == nullptr)
      readings(builder, "process.rss_bytes", std::to_string(batch.pid), worker_mib);
  }
  readings(builder, "memory.available_bytes", "", available_mib);
  return builder.take();
}

const std::vector<double> kGrowing = {200, 300, 400, 500, 600, 700}, kLess = {4000, 3800, 3600, 3400, 3200, 3000};

bool named(const Diagnosis& diagnosis) {
  return std::ranges::any_of(diagnosis.causes,
                             [](const Cause& cause) { return cause.cause == "worker_memory_growth"; });
}

TEST(WorkerMemoryGrowth, SaysWhenMemoryIsFull) {
  const Diagnosis diagnosis = diagnose(grown(kGrowing, kLess));
  ASSERT_EQ(diagnosis.verdict.cause, "worker_memory_growth");
  EXPECT_EQ(diagnosis.verdict.severity, Severity::kWarning);
  EXPECT_THAT(diagnosis.verdict.summary, HasSubstr("2 of 2 workers grow by 1200 MiB a minute together"));
  EXPECT_EQ(diagnosis.causes[0].cost,
            "memory is full in about 3 minutes");  // 3200 MiB before the last reading, at 20 MiB/s
}

TEST(WorkerMemoryGrowth, IsNotNamedForOneStep) {
  EXPECT_FALSE(named(diagnose(grown({200, 300, 700, 700.1, 700.2, 700.3}, kLess))));
}

TEST(WorkerMemoryGrowth, IsNotNamedForFilesThatAreMapped) {
  EXPECT_FALSE(named(diagnose(grown(kGrowing, {4000, 4000.1, 4000, 3999, 4000, 3998}))));
}

TEST(WorkerMemoryGrowth, IsNotNamedWhereItWouldTakeHours) {
  EXPECT_FALSE(named(diagnose(grown(kGrowing, {400'000, 399'800, 399'600, 399'400, 399'200, 399'000}))));
}

}  // namespace
}  // namespace fullbore::diagnose
