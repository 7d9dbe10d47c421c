#include "observe/collector_process.h"

#include <gmock/gmock.h>

namespace fullbore::observe {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(CollectorSummary, SurvivesTheTripToTheLauncher) {
  const auto summary = decode_summary(encode({1.25, 12.5, true, {{"pressure", "no PSI"}, {"ring a", "magic\nis\t1"}}}));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->cpu_s, 1.25);
  EXPECT_EQ(summary->peak_mib, 12.5);
  EXPECT_TRUE(summary->heard);
  EXPECT_THAT(summary->missing, ElementsAre(Pair("pressure", "no PSI"), Pair("ring a", "magic is 1")));
}

TEST(CollectorSummary, IsNotReadFromOtherMessages) {
  EXPECT_FALSE(decode_summary("steps"));
  EXPECT_FALSE(decode_summary("summary\tx"));
  EXPECT_FALSE(decode_summary(""));
}

}  // namespace
}  // namespace fullbore::observe
