#include "diagnose/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/testing/run_builder.h"

namespace fullbore::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

Cause made(const char* id, double share) {
  Cause cause;
  cause.cause = id;
  cause.share = share;
  return cause;
}

TEST(RankCauses, PutsTheLargestFirst) {
  std::vector<Cause> causes = {made("a", 0.1), made("b", 0.5), made("c", 0.3)};
  rank_causes(causes);
  EXPECT_THAT(causes, ElementsAre(Field(&Cause::cause, "b"), Field(&Cause::cause, "c"), Field(&Cause::cause, "a")));
}

TEST(RankCauses, GivesTiesToTheCheaperChange) {
  std::vector<Cause> causes = {made("cheap", 0.48), made("dear", 0.5)};
  rank_causes(causes);
  EXPECT_EQ(causes.front().cause, "cheap");
}

}  // namespace
}  // namespace fullbore::diagnose
