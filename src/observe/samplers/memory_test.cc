#include "observe/samplers/memory.h"

#include <gmock/gmock.h>

#include "observe/samplers/recorded_readings.h"

namespace fullbore::observe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

TEST(MemoryTest, SizesAreBytesAndPagesAreConverted) {
  base::InMemoryFiles files(
      Texts{{"/proc/meminfo",
             "MemTotal:       24683652 kB\nMemAvailable:   24209812 kB\nCached:           566948 kB\n"
             "SwapCached:            9 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"
             "Dirty:             26904 kB\nCommitted_AS:     429760 kB\n"},
            {"/proc/vmstat", "workingset_refault_file 204542\npswpin 3\npswpout 0\npgmajfault 1319\n"}});
  RecordedReadings out;
  MemorySampler(files).sample({}, 0, out);
  EXPECT_THAT(out.value("memory.total_bytes"), Optional(24683652 * 1024.0));
  EXPECT_THAT(out.value("memory.cached_bytes"), Optional(566948 * 1024.0));
  EXPECT_THAT(out.value("memory.swap_free_bytes"), Optional(0.0));
  EXPECT_THAT(out.value("memory.swap_in_bytes"), Optional(12288.0));
  EXPECT_THAT(out.value("memory.major_faults"), Optional(1319.0));
  EXPECT_THAT(out.value("memory.refault_file"), Optional(204542.0));
  EXPECT_THAT(out.all_missing(), IsEmpty());
}

TEST(MemoryTest, ALineThatAKernelLacksIsNamed) {
  base::InMemoryFiles files(Texts{{"/proc/meminfo", "MemTotal: 10 kB\n"}, {"/proc/vmstat", ""}});
  RecordedReadings out;
  MemorySampler(files).sample({}, 0, out);
  EXPECT_FALSE(out.value("memory.available_bytes"));
  EXPECT_THAT(out.why("memory.available_bytes"), HasSubstr("/proc/meminfo has no number MemAvailable:"));
  EXPECT_THAT(out.why("memory.refault_file"), HasSubstr("/proc/vmstat"));
}

TEST(MemoryTest, WithoutProcTheWholeSourceIsNamed) {
  RecordedReadings out;
  MemorySampler(base::InMemoryFiles(Texts{})).sample({}, 0, out);
  EXPECT_THAT(out.values(), IsEmpty());
  EXPECT_THAT(out.why("memory"), HasSubstr("/proc/meminfo: No such file"));
}

}  // namespace
}  // namespace fullbore::observe
