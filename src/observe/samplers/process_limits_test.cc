#include "observe/samplers/process_limits.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max processes             96364                96364                processes \n"
    "Max open files            20000                20000                files     \n"
    "Max locked memory         8388608              8388608              bytes     \n"
    "Max address space         unlimited            unlimited            bytes     \n";

TEST(ProcessLimitsTest, LimitsAreReportedOnce) {
  const base::InMemoryFiles files(
      Texts{{"/proc/7/limits", kLimits}, {"/proc/7/stat", "7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 20 -5 1 0 5 0 1\n"}});
  RecordedReadings out;
  ProcessLimitsSampler sampler(files);
  sampler.sample({7, {7}, {}, {}}, 0, out);
  EXPECT_THAT(out.value("limit.open_files"), Optional(20000.0));
  EXPECT_THAT(out.value("limit.locked_memory_bytes"), Optional(8388608.0));
  EXPECT_THAT(out.value("limit.processes"), Optional(96364.0));
  EXPECT_FALSE(out.value("limit.address_space_bytes"));
  EXPECT_THAT(out.value("limit.unlimited", "address_space_bytes"), Optional(1.0));
  EXPECT_THAT(out.value("limit.nice"), Optional(-5.0));
  EXPECT_THAT(out.all_missing(), IsEmpty());
  out.clear();
  sampler.sample({7, {7}, {}, {}}, 1, out);
  EXPECT_THAT(out.values(), IsEmpty());
}

TEST(ProcessLimitsTest, GarbageIsMissingNotUnlimited) {
  for (const char* text : {"", "Max open files", "Max open files x", "Max open files\n\n"}) {
    const base::InMemoryFiles files(Texts{{"/proc/7/limits", text}});
    RecordedReadings out;
    ProcessLimitsSampler(files).sample({7, {7}, {}, {}}, 0, out);
    EXPECT_THAT(out.values(), IsEmpty()) << text;
    EXPECT_THAT(out.why("limit.open_files"), HasSubstr("Max open files")) << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
