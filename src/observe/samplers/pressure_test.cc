#include "observe/samplers/pressure.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kIo =
    "some avg10=0.00 avg60=0.13 avg300=0.18 total=3747195\nfull avg10=0.00 avg60=0.11 avg300=0.14 total=3278496\n";
constexpr const char* kCpu =
    "some avg10=0.04 avg60=0.75 avg300=1.02 total=12840085\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

TEST(PressureTest, TotalsAreSeconds) {
  base::InMemoryFiles files(
      Texts{{"/proc/pressure/cpu", kCpu}, {"/proc/pressure/io", kIo}, {"/proc/pressure/memory", kIo}});
  RecordedReadings out;
  PressureSampler(files).sample({}, 0, out);
  EXPECT_THAT(out.value("pressure.some_s", "io"), Optional(3.747195));
  EXPECT_THAT(out.value("pressure.full_s", "memory"), Optional(3.278496));
  EXPECT_THAT(out.value("pressure.some_s", "cpu"), Optional(12.840085));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(PressureTest, FullIsNotDefinedForTheCpuOfAHost) {
  base::InMemoryFiles files(Texts{{"/proc/pressure/cpu", kCpu}});
  RecordedReadings out;
  PressureSampler(files).sample({}, 0, out);
  EXPECT_FALSE(out.value("pressure.full_s", "cpu"));
}

TEST(PressureTest, AKernelWithoutPressureSaysSo) {
  RecordedReadings out;
  PressureSampler(base::InMemoryFiles(Texts{})).sample({}, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  EXPECT_THAT(out.why("pressure"), HasSubstr("CONFIG_PSI"));
}

class SwitchedOffFiles final : public base::FileReader {
 public:
  base::Expected<std::string> read(std::string_view path) const override {
    return std::unexpected(base::Error::system(EOPNOTSUPP, std::string("cannot open ") + std::string(path)));
  }
  base::Expected<std::vector<std::string>> list(std::string_view) const override { return base::fail("no"); }
  base::Expected<std::string> read_link(std::string_view) const override { return base::fail("no"); }
};

TEST(PressureTest, PressureSwitchedOffAtBootNamesTheBootOption) {
  RecordedReadings out;
  PressureSampler(SwitchedOffFiles()).sample({}, 0, out);
  EXPECT_THAT(out.why("pressure"), HasSubstr("psi=1"));
}

TEST(PressureTest, GarbageIsMissingNotZero) {
  for (const char* text : {"", "some", "some total=", "some total=x\nfull total=-1\n", "\n\n\n"}) {
    base::InMemoryFiles files(Texts{{"/proc/pressure/io", text}});
    RecordedReadings out;
    PressureSampler(files).sample({}, 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
