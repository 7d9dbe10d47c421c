#include "cli/source_text.h"

#include <gtest/gtest.h>

#include <map>

namespace fullbore::cli {
namespace {

const base::InMemoryFiles kFiles(std::map<std::string, std::string>{
    {"/train.py", "import torch\nfor x in loader:\n    step(x)\n"}});

diagnose::Diagnosis with_line(int line, const std::string& code = "") {
  diagnose::Diagnosis d;
  d.loop_lines = {{{"/train.py", line, code}, 1, 1, "wait"}};
  return d;
}

TEST(SourceText, IsKeptAndFoundAgain) {
  const std::string kept = source_json(with_line(2), kFiles);
  auto later = with_line(2);
  add_source_text(later, kept);
  EXPECT_EQ(later.loop_lines[0].where.code, "for x in loader:");
}

TEST(SourceText, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(source_json(with_line(9), kFiles), "{}\n");
  auto gone = with_line(2);
  gone.loop_lines[0].where.file = "/gone.py";
  EXPECT_EQ(source_json(gone, kFiles), "{}\n");
}

TEST(SourceText, OfANotebookIsInItsCells) {
  auto cell = with_line(2);
  cell.loop_lines[0].where.file = "<ipython-input-3>";
  add_source_text(cell, source_json(cell, kFiles, {{"<ipython-input-3>", "import torch\nfor x in cells:\n"}}));
  EXPECT_EQ(cell.loop_lines[0].where.code, "for x in cells:");
}

TEST(SourceText, DoesNotReplaceRecordedText) {
  auto d = with_line(2, "recorded");
  add_source_text(d, source_json(with_line(2), kFiles));
  EXPECT_EQ(d.loop_lines[0].where.code, "recorded");
}

TEST(SourceText, SurvivesDamage) {
  for (const char* text : {"", "{", "[]", "{\"/train.py\": 3}", "{\"/train.py\": {\"2\": 7}}"}) {
    auto d = with_line(2);
    add_source_text(d, text);
    EXPECT_EQ(d.loop_lines[0].where.code, "") << text;
  }
}

}  // namespace
}  // namespace fullbore::cli
