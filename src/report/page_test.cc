#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullbore::report {
namespace {

using ::testing::ElementsAre;

TEST(Page, WrapsAtSpacesAndLeavesALongWordWhole) {
  EXPECT_THAT(wrapped("a verdict in averyveryverylongword here", 10),
              ElementsAre("a verdict", "in", "averyveryverylongword", "here"));
}

TEST(Page, CountsColumnsNotBytes) {
  EXPECT_EQ(columns_of("d\u00e9j\u00e0"), 4u);
  EXPECT_EQ(Page({}).right("\u00e9", 3), "  \u00e9");
}

TEST(Page, CutsWithAnEllipsis) {
  EXPECT_EQ(Page({}).left("loader.py", 5), "load\u2026");
  EXPECT_EQ(Page({.utf8 = false}).left("loader.py", 5), "lo...");
}

TEST(Page, DrawsABarInEighths) {
  EXPECT_EQ(Page({}).bar(0.5, 5), "\u2588\u2588\u258c  ");
  EXPECT_EQ(Page({.utf8 = false}).bar(0.5, 4), "##  ");
}

TEST(Page, DrawsSomethingForTheSmallestShareAndNothingForZero) {
  EXPECT_EQ(Page({}).bar(0.0001, 4), "\u258f   ");
  EXPECT_EQ(Page({}).bar(0, 4), "    ");
}

TEST(Page, PaintsOnlyWhenTold) {
  EXPECT_EQ(Page({}).paint(Ink::kRed, "wait"), "wait");
  EXPECT_EQ(Page({.color = true}).paint(Ink::kRed, "wait"), "\x1b[1;31mwait\x1b[0m");
}

TEST(Page, LetsNoControlCharacterThrough) {
  EXPECT_EQ(clean("a\x1b[31mb\x07"
                  "c\x7f\xc2\x9b"),
            "a?[31mb?c??");
  EXPECT_EQ(clean("\tx\xff\xe2\x82"), "    x???");
  EXPECT_EQ(clean("caf\u00e9"), "caf\u00e9");
}

TEST(Page, IndentsProseUnderItsLabel) {
  Page page({.width = 60});
  page.prose("  risk", 8, "the same samples each once per epoch but another random stream for them");
  EXPECT_EQ(page.text(),
            "  risk  the same samples each once per epoch but another\n"
            "        random stream for them\n");
}

TEST(Page, IsAsciiWhereTheTerminalIs) {
  Page page({.utf8 = false});
  page.line("caf\u00e9");
  EXPECT_EQ(page.text(), "caf?\n");
}

}  // namespace
}  // namespace fullbore::report
