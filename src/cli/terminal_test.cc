#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <map>

namespace fullbore::cli {
namespace {

report::TextOptions options(bool is_terminal, std::size_t columns, const std::map<std::string, std::string>& set) {
  return text_options(is_terminal, columns, [&set](const char* name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Terminal, HasColourOnATerminalOnly) {
  EXPECT_TRUE(options(true, 80, {{"TERM", "xterm"}}).color);
  EXPECT_FALSE(options(false, 0, {{"TERM", "xterm"}}).color);
  EXPECT_FALSE(options(true, 80, {{"TERM", "dumb"}}).color);
  EXPECT_FALSE(options(true, 80, {}).color);
}

TEST(Terminal, ObeysNoColorBeforeForce) {
  EXPECT_FALSE(options(true, 80, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).color);
  EXPECT_TRUE(options(true, 80, {{"TERM", "xterm"}, {"NO_COLOR", ""}}).color);
  EXPECT_TRUE(options(false, 0, {{"CLICOLOR_FORCE", "1"}}).color);
  EXPECT_FALSE(options(false, 0, {{"CLICOLOR_FORCE", "0"}}).color);
  EXPECT_FALSE(options(false, 0, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}).color);
}

TEST(Terminal, TakesTheWidthOfTheTerminalThenOfColumns) {
  EXPECT_EQ(options(true, 132, {{"COLUMNS", "70"}}).width, 132u);
  EXPECT_EQ(options(false, 0, {{"COLUMNS", "70"}}).width, 70u);
  EXPECT_EQ(options(false, 0, {{"COLUMNS", "wide"}}).width, 100u);
}

TEST(Terminal, IsAsciiUnlessTheDecidingVariableSaysUtf8) {
  EXPECT_TRUE(options(false, 0, {{"LANG", "en_GB.UTF-8"}}).utf8);
  EXPECT_TRUE(options(false, 0, {{"LC_CTYPE", "C.utf8"}}).utf8);
  EXPECT_FALSE(options(false, 0, {{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}}).utf8);
  EXPECT_FALSE(options(false, 0, {}).utf8);
}

}  // namespace
}  // namespace fullbore::cli
