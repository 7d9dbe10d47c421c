#include "observe/series_encoder.h"

#include <gmock/gmock.h>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct Taken {
  std::vector<std::string> names;
  std::vector<wire::SeriesRecord> series;
  std::vector<std::pair<std::uint32_t, double>> readings;
  std::vector<std::int64_t> times;
};

Taken take(SeriesEncoder& encoder, std::int64_t now_ns) {
  Taken taken;
  for_each_record(encoder.take(now_ns), [&](wire::Kind kind, std::span<const std::byte> payload) {
    if (kind == wire::Kind::kName) {
      wire::NameRecord name;
      ASSERT_TRUE(read_record(payload, name));
      taken.names.emplace_back(reinterpret_cast<const char*>(payload.data() + sizeof name), name.length);
    } else if (kind == wire::Kind::kSeries) {
      ASSERT_TRUE(read_record(payload, taken.series.emplace_back()));
    } else if (kind == wire::Kind::kReadings) {
      wire::ReadingsRecord record;
      ASSERT_TRUE(read_record(payload, record));
      taken.times.push_back(record.time_ns);
      for (std::uint32_t i = 0; i < record.count; ++i) {
        wire::Reading reading;
        ASSERT_TRUE(read_record(payload.subspan(sizeof record + i * sizeof reading), reading));
        taken.readings.emplace_back(reading.series, reading.value);
      }
    }
  });
  return taken;
}

TEST(SeriesEncoder, IntroducesASeriesOnceWithItsNames) {
  SeriesEncoder encoder;
  encoder.gauge("cpu.busy", "cpu0", "share", 0.5);
  encoder.counter("cpu.ticks", "cpu0", "s", 7);
  const Taken first = take(encoder, 100);
  EXPECT_THAT(first.names, ElementsAre("cpu.busy", "cpu0", "share", "cpu.ticks", "s"));
  ASSERT_EQ(first.series.size(), 2u);
  EXPECT_EQ(first.series[1].kind, wire::SeriesKind::kCounter);
  EXPECT_EQ(first.series[1].metric, wire::name_id("cpu.ticks", 9));
  EXPECT_THAT(first.readings, ElementsAre(Pair(0, 0.5), Pair(1, 7.0)));
  EXPECT_THAT(first.times, ElementsAre(100));

  encoder.gauge("cpu.busy", "cpu0", "share", 0.6);
  const Taken second = take(encoder, 200);
  EXPECT_THAT(second.names, IsEmpty());
  EXPECT_THAT(second.series, IsEmpty());
  EXPECT_THAT(second.readings, ElementsAre(Pair(0, 0.6)));
}

TEST(SeriesEncoder, WritesOnlyWhatChanged) {
  SeriesEncoder encoder;
  encoder.gauge("a", "", "1", 1);
  encoder.gauge("b", "", "1", 2);
  take(encoder, 1);
  encoder.gauge("a", "", "1", 1);
  encoder.gauge("b", "", "1", 3);
  EXPECT_THAT(take(encoder, 2).readings, ElementsAre(Pair(1, 3.0)));
  encoder.gauge("a", "", "1", 1);
  EXPECT_TRUE(encoder.take(3).empty());
}

TEST(SeriesEncoder, SplitsWhatDoesNotFitOneRecord) {
  SeriesEncoder encoder;
  for (int i = 0; i < 9000; ++i) encoder.gauge("m", std::to_string(i), "1", i);
  const Taken taken = take(encoder, 5);
  EXPECT_EQ(taken.readings.size(), 9000u);
  EXPECT_THAT(taken.times, ElementsAre(5, 5, 5));
}

TEST(SeriesEncoder, ReportsAMissingSignalOnce) {
  SeriesEncoder encoder;
  encoder.missing("pressure", "no /proc/pressure");
  encoder.missing("pressure", "no /proc/pressure");
  EXPECT_THAT(encoder.missing_signals(), ElementsAre(Pair("pressure", "no /proc/pressure")));
}

}  // namespace
}  // namespace fullbore::observe
