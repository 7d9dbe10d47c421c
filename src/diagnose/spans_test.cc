#include "diagnose/spans.h"

#include <gtest/gtest.h>

namespace fullbore::diagnose {
namespace {

TEST(Spans, MergeWhatTouchesAndDropWhatIsEmpty) {
  EXPECT_EQ(merged({{5, 9}, {1, 3}, {3, 4}, {7, 8}, {20, 20}, {12, 10}}), (Spans{{1, 4}, {5, 9}}));
}

TEST(Spans, WithoutCutsHolesAndEdges) {
  EXPECT_EQ(without({{0, 10}, {20, 30}}, {{2, 3}, {5, 6}, {9, 21}, {29, 40}}),
            (Spans{{0, 2}, {3, 5}, {6, 9}, {21, 29}}));
  EXPECT_EQ(without({{0, 10}}, {{0, 10}}), Spans{});
  EXPECT_EQ(without({{0, 10}}, {}), (Spans{{0, 10}}));
}

TEST(Spans, OneTakenSpanMayReachIntoSeveral) {
  EXPECT_EQ(without({{0, 4}, {6, 9}, {9, 12}}, {{2, 10}}), (Spans{{0, 2}, {10, 12}}));
}

TEST(Spans, CommonIsWhatBothHold) {
  EXPECT_EQ(common({{0, 10}, {20, 30}}, {{5, 22}, {24, 25}, {40, 50}}), (Spans{{5, 10}, {20, 22}, {24, 25}}));
  EXPECT_EQ(common({{0, 10}}, {{10, 20}}), Spans{});
}

TEST(Spans, LengthIsTheSum) {
  EXPECT_DOUBLE_EQ(length_ns({{0, 10}, {20, 25}}), 15);
}

TEST(Spans, LengthWithinCutsAtBothEnds) {
  const Spans spans = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_DOUBLE_EQ(length_within_ns(spans, 5, 45), 20);
  EXPECT_DOUBLE_EQ(length_within_ns(spans, 10, 20), 0);
  EXPECT_DOUBLE_EQ(length_within_ns(spans, 22, 23), 1);
}

}  // namespace
}  // namespace fullbore::diagnose
