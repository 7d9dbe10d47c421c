#include "observe/samplers/task_stat.h"

#include <gtest/gtest.h>

namespace fullbore::observe {
namespace {

constexpr const char* kText =
    "6664 (pt_data) w (x)) D 6650 6650 3357 0 -1 4194304 100 7 3 4 11 12 13 14 20 -5 9 0 102143 3133440 390 "
    "18446744073709551615 1 2\n";

TEST(TaskStatTest, ReadsTheFieldsBehindANameWithBlanksAndParentheses) {
  const auto stat = parse_task_stat(kText);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "pt_data) w (x)");
  EXPECT_EQ(stat->state, 'D');
  EXPECT_EQ(stat->parent, 6650u);
  EXPECT_EQ(stat->major_faults, 3u);
  EXPECT_EQ(stat->children_major_faults, 4u);
  EXPECT_EQ(stat->user_ticks, 11u);
  EXPECT_EQ(stat->system_ticks, 12u);
  EXPECT_EQ(stat->children_user_ticks, 13u);
  EXPECT_EQ(stat->children_system_ticks, 14u);
  EXPECT_EQ(stat->nice, -5);
  EXPECT_EQ(stat->threads, 9u);
  EXPECT_EQ(stat->start_ticks, 102143u);
  EXPECT_EQ(stat->resident_pages, 390u);
}

TEST(TaskStatTest, ATextCutShortAnywhereIsNothing) {
  const std::string text = kText;
  for (std::size_t length = 0; length < text.find(" 390"); ++length) {
    EXPECT_FALSE(parse_task_stat(text.substr(0, length))) << length;
  }
}

TEST(TaskStatTest, GarbageIsNothing) {
  for (const char* text : {"", ")(", "1 (a) R", "1 (a) RR 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
                           "1 (a) R 1 1 1 1 1 1 1 x 1 1 1 y 1 1 1 1 1 1 1 1 1 1 1"}) {
    EXPECT_FALSE(parse_task_stat(text)) << text;
  }
}

}  // namespace
}  // namespace fullbore::observe
