#include "observe/samplers/tree_sum.h"

#include <gtest/gtest.h>

namespace fullbore::observe {
namespace {

// Root 1 with workers 2 and 3; the first count alone is looked at.
TreeSum::Member member(std::uint32_t pid, std::uint32_t parent, std::uint64_t own, std::uint64_t inherited = 0,
                       std::uint64_t start = 0) {
  return {pid, start, parent, {own}, {inherited}};
}

std::uint64_t round(TreeSum& sum, std::initializer_list<TreeSum::Member> members) {
  for (const auto& m : members) sum.add(m);
  return sum.end_round()[0];
}

TEST(TreeSumTest, AddsUpTheLiving) {
  TreeSum sum;
  EXPECT_EQ(round(sum, {member(1, 0, 10), member(2, 1, 5)}), 15u);
  EXPECT_EQ(round(sum, {member(1, 0, 11), member(2, 1, 9)}), 20u);
}

TEST(TreeSumTest, AWaitedForChildIsCountedOnce) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 50)});
  EXPECT_EQ(round(sum, {member(1, 0, 10, 50)}), 60u);
  EXPECT_EQ(round(sum, {member(1, 0, 10, 50)}), 60u);
}

TEST(TreeSumTest, AChildGoneBeforeItsParentInheritsIsKeptAndThenCountedOnce) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 50)});
  EXPECT_EQ(round(sum, {member(1, 0, 10)}), 60u);
  EXPECT_EQ(round(sum, {member(1, 0, 10, 52)}), 62u);
}

TEST(TreeSumTest, AChildReadBeforeItWasWaitedForIsCountedOnceInTheEnd) {
  TreeSum sum;
  round(sum, {member(2, 1, 50), member(1, 0, 10)});
  EXPECT_EQ(round(sum, {member(2, 1, 50), member(1, 0, 10, 50)}), 110u);  // for one round it is in both
  round(sum, {member(1, 0, 10, 50)});
  EXPECT_EQ(round(sum, {member(1, 0, 70, 50)}), 120u);
}

TEST(TreeSumTest, AChildThatNobodyWaitsForIsNotLost) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 50)});
  round(sum, {member(1, 0, 10)});
  EXPECT_EQ(round(sum, {member(1, 0, 30)}), 80u);
}

TEST(TreeSumTest, AnOrphanIsNotLost) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 50), member(3, 9, 7)});
  EXPECT_EQ(round(sum, {member(1, 0, 10), member(2, 1, 50)}), 67u);
}

TEST(TreeSumTest, GrandchildrenAreOwedToTheNearestLivingAncestor) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 20), member(3, 2, 30)});
  EXPECT_EQ(round(sum, {member(1, 0, 10)}), 60u);
  EXPECT_EQ(round(sum, {member(1, 0, 10, 50)}), 60u);
}

TEST(TreeSumTest, TheWholeTreeMayEnd) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 20)});
  EXPECT_EQ(round(sum, {}), 30u);
  EXPECT_EQ(round(sum, {}), 30u);
}

TEST(TreeSumTest, APidUsedAgainIsAnotherProcess) {
  TreeSum sum;
  round(sum, {member(1, 0, 10), member(2, 1, 50, 0, 100)});
  EXPECT_EQ(round(sum, {member(1, 0, 10, 50), member(2, 1, 4, 0, 200)}), 64u);
}

TEST(TreeSumTest, ParentsThatNameEachOtherEnd) {
  TreeSum sum;
  round(sum, {member(1, 2, 10), member(2, 1, 20)});
  EXPECT_EQ(round(sum, {}), 30u);
}

}  // namespace
}  // namespace fullbore::observe
