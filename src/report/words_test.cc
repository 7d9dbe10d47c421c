#include "report/words.h"

#include <gtest/gtest.h>

#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

TEST(Words, GiveMillisecondsTheDigitsThatMatter) {
  EXPECT_EQ(milliseconds(0.836), "0.84");
  EXPECT_EQ(milliseconds(163.24), "163.2");
  EXPECT_EQ(milliseconds(12345.6), "12,346");
}

TEST(Words, LineUpPartsWithTheirStep) {
  EXPECT_EQ(milliseconds_of(0.836, 163.2), "0.8");
  EXPECT_EQ(milliseconds_of(0.836, 4.2), "0.84");
}

TEST(Words, GroupThousandsOfNegativeAndWholeNumbers) {
  EXPECT_EQ(number(-1234567), "-1,234,567");
  EXPECT_EQ(number(999), "999");
  EXPECT_EQ(number(0.12345), "0.123");
  EXPECT_EQ(number(1234.56), "1,235");
}

TEST(Words, GiveUnits) {
  EXPECT_EQ(with_unit(0.612, "share"), "61.2 %");
  EXPECT_EQ(with_unit(61.2, "%"), "61.2 %");
  EXPECT_EQ(with_unit(98.44, "ms"), "98.4 ms");
  EXPECT_EQ(with_unit(2, ""), "2");
}

TEST(Words, GiveAnEpochItsUnit) {
  EXPECT_EQ(epoch_time(0.00142), "5.1 s");
  EXPECT_EQ(epoch_time(0.5), "30.0 min");
  EXPECT_EQ(epoch_time(3.25), "3.2 h");
}

TEST(Words, NameAPlaceByItsLastComponent) {
  EXPECT_EQ(place({"/home/ada/train.py", 41, ""}), "train.py:41");
  EXPECT_EQ(place({"<string>", 0, ""}), "<string>");
}

TEST(Words, FindOnlyMeasuredSystemValues) {
  const auto d = testing::no_workers_run();
  EXPECT_EQ(system_value(d, "cpu.usable_cores"), 2.0);
  EXPECT_EQ(system_value(d, "disk.read_mb_per_s"), std::nullopt);
  EXPECT_EQ(system_value(d, "no.such"), std::nullopt);
}

}  // namespace
}  // namespace fullbore::report
