#include "observe/samplers/kernel_text.h"

#include <gmock/gmock.h>

namespace fullbore::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(KernelTextTest, ANumberIsTheWholeText) {
  EXPECT_THAT(number("42"), Optional(42u));
  EXPECT_THAT(number<std::int64_t>("-1"), Optional(-1));
  for (const char* text : {"", "max", "12x", " 12", "-1", "99999999999999999999999"})
    EXPECT_FALSE(number(text)) << text;
}

TEST(KernelTextTest, FieldsAreSplitAtAnyBlanks) {
  EXPECT_THAT(fields("  a\tb  c\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(fields("a b c", 2), ElementsAre("a", "b"));
  EXPECT_THAT(fields(" \n"), IsEmpty());
}

TEST(KernelTextTest, TheLastLineNeedsNoNewline) {
  EXPECT_THAT(lines("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(lines("a\n\nb\n"), ElementsAre("a", "", "b"));
}

TEST(KernelTextTest, AKeyIsAWholeWordAtTheStartOfALine) {
  const char* text = "SwapCached: 7 kB\nCached: 5 kB\nnr_throttled 3\nthrottled 4\nempty\nword x\n";
  EXPECT_THAT(value_of(text, "Cached:"), Optional(5u));
  EXPECT_THAT(value_of(text, "throttled"), Optional(4u));
  EXPECT_FALSE(value_of(text, "Cache"));
  EXPECT_FALSE(value_of(text, "empty"));
  EXPECT_FALSE(value_of(text, "word"));
  EXPECT_FALSE(value_of("cut", "cut"));
}

TEST(KernelTextTest, ACpuListIsExpanded) {
  EXPECT_THAT(cpu_list("0-2,8\n"), Optional(ElementsAre(0, 1, 2, 8)));
  for (const char* text : {"", "\n", "a", "3-1", "0-", "-4", "0-99999999", "0,,1"})
    EXPECT_FALSE(cpu_list(text)) << text;
}

TEST(KernelTextTest, AllowedCpusComeFromTheListLine) {
  EXPECT_THAT(allowed_cpus("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n"),
              Optional(ElementsAre(0, 1)));
  EXPECT_FALSE(allowed_cpus("Name:\tx\n"));
}

TEST(KernelTextTest, PidZeroIsTheReaderItself) {
  EXPECT_EQ(proc_path(0, "status"), "/proc/self/status");
  EXPECT_EQ(proc_path(7, "task/8/stat"), "/proc/7/task/8/stat");
}

}  // namespace
}  // namespace fullbore::observe
