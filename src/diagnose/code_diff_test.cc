#include "diagnose/code_diff.h"

#include <gtest/gtest.h>

namespace fullbore::diagnose {
namespace {

const std::vector<Setting> kTwoWorkers = {{"num_workers", "0", "2"}};
const std::vector<Setting> kWorkersKept = {{"num_workers", "0", "2"}, {"persistent_workers", "False", "True"}};

std::string diff(const std::string& code, const std::vector<Setting>& settings = kTwoWorkers) {
  return code_diff({"train.py", 41, code}, settings);
}

// The diff without its three header lines.
std::string body(const std::string& code, const std::vector<Setting>& settings = kTwoWorkers) {
  std::string text = diff(code, settings);
  for (int i = 0; i < 3 && !text.empty(); ++i) text.erase(0, text.find('\n') + 1);
  return text;
}

TEST(CodeDiff, ReplacesAKeywordAndNamesFileAndLine) {
  EXPECT_EQ(diff("loader = DataLoader(ds, batch_size=64, num_workers=0, pin_memory=False)\n"),
            "--- a/train.py\n"
            "+++ b/train.py\n"
            "@@ -41,1 +41,1 @@\n"
            "-loader = DataLoader(ds, batch_size=64, num_workers=0, pin_memory=False)\n"
            "+loader = DataLoader(ds, batch_size=64, num_workers=2, pin_memory=False)\n");
}

TEST(CodeDiff, StripsTheLeadingSlashSoThatThePatchAppliesFromTheRoot) {
  const std::string text = code_diff({"/home/u/train.py", 7, "d = DataLoader(x)\n"}, kTwoWorkers);
  EXPECT_TRUE(text.starts_with("--- a/home/u/train.py\n+++ b/home/u/train.py\n@@ -7,1 +7,1 @@\n")) << text;
}

TEST(CodeDiff, AddsAKeywordAtTheEndOfASingleLine) {
  EXPECT_EQ(body("    loader = DataLoader(ds, 64, shuffle=True)  # training\n", kWorkersKept),
            "-    loader = DataLoader(ds, 64, shuffle=True)  # training\n"
            "+    loader = DataLoader(ds, 64, shuffle=True, num_workers=2, persistent_workers=True)  # training\n");
}

TEST(CodeDiff, KeepsATrailingCommaOnASingleLine) {
  EXPECT_EQ(body("d = DataLoader(ds,)\n"), "-d = DataLoader(ds,)\n+d = DataLoader(ds, num_workers=2,)\n");
}

TEST(CodeDiff, GivesAMultiLineCallANewLineWithTheSameIndent) {
  EXPECT_EQ(body("loader = DataLoader(\n    ds,\n    batch_size=64,\n)\n", kWorkersKept),
            " loader = DataLoader(\n"
            "     ds,\n"
            "     batch_size=64,\n"
            "+    num_workers=2,\n"
            "+    persistent_workers=True,\n"
            " )\n");
}

TEST(CodeDiff, AddsTheMissingCommaBeforeANewLine) {
  EXPECT_EQ(body("loader = DataLoader(\n    ds,\n    shuffle=True  # each epoch\n)\n"),
            " loader = DataLoader(\n"
            "     ds,\n"
            "-    shuffle=True  # each epoch\n"
            "+    shuffle=True,  # each epoch\n"
            "+    num_workers=2\n"
            " )\n");
}

TEST(CodeDiff, KeepsTheClosingBracketOnTheLastArgumentsLine) {
  EXPECT_EQ(body("loader = DataLoader(ds,\n                    shuffle=True)\n"),
            " loader = DataLoader(ds,\n"
            "-                    shuffle=True)\n"
            "+                    shuffle=True,\n"
            "+                    num_workers=2)\n");
}

TEST(CodeDiff, AddsBesideAnArgumentThatSharesItsLine) {
  EXPECT_EQ(body("loader = DataLoader(\n    ds, batch_size=64, shuffle=True,\n)\n"),
            " loader = DataLoader(\n"
            "-    ds, batch_size=64, shuffle=True,\n"
            "+    ds, batch_size=64, shuffle=True, num_workers=2,\n"
            " )\n");
}

TEST(CodeDiff, BreaksAContinuedLineThatWouldGrowTooLong) {
  const std::string last =
      "    sampler=torch.utils.data.RandomSampler(dataset_of_training_images), collate_fn=my_collate_fn";
  const std::string text = body("loader = DataLoader(\n    ds,\n" + last + ")\n", kWorkersKept);
  EXPECT_EQ(text, " loader = DataLoader(\n     ds,\n-" + last + ")\n+" + last +
                      ",\n+    num_workers=2,\n+    persistent_workers=True)\n");
}

TEST(CodeDiff, ReplacesTheSixthPositionalArgument) {
  EXPECT_EQ(body("d = DataLoader(ds, 8, True, None, None, 0, my_collate)\n"),
            "-d = DataLoader(ds, 8, True, None, None, 0, my_collate)\n"
            "+d = DataLoader(ds, 8, True, None, None, 2, my_collate)\n");
}

TEST(CodeDiff, ReplacesAnExpressionAsAWhole) {
  EXPECT_EQ(body("d = DataLoader(ds, num_workers=min(4, os.cpu_count()) if fast else 0, shuffle=True)\n"),
            "-d = DataLoader(ds, num_workers=min(4, os.cpu_count()) if fast else 0, shuffle=True)\n"
            "+d = DataLoader(ds, num_workers=2, shuffle=True)\n");
}

TEST(CodeDiff, ReadsOverNestedBracketsStringsAndLambdas) {
  EXPECT_EQ(body("d = wrap(DataLoader(Set(\"a,)(\", [1, 2]), collate_fn=lambda b, n=2: (b, n)), 3)\n"),
            "-d = wrap(DataLoader(Set(\"a,)(\", [1, 2]), collate_fn=lambda b, n=2: (b, n)), 3)\n"
            "+d = wrap(DataLoader(Set(\"a,)(\", [1, 2]), collate_fn=lambda b, n=2: (b, n), num_workers=2), 3)\n");
}

TEST(CodeDiff, IgnoresNamesInCommentsAndStrings) {
  EXPECT_EQ(
      body("d = DataLoader(ds)  # not DataLoader(ds, 8)\n"),
      "-d = DataLoader(ds)  # not DataLoader(ds, 8)\n+d = DataLoader(ds, num_workers=2)  # not DataLoader(ds, 8)\n");
}

TEST(CodeDiff, KeepsWindowsLineEnds) {
  EXPECT_EQ(body("d = DataLoader(\r\n    ds,\r\n)\r\n"),
            " d = DataLoader(\r\n     ds,\r\n+    num_workers=2,\r\n )\r\n");
}

TEST(CodeDiff, EditsAndAddsInOneGo) {
  EXPECT_EQ(body("d = DataLoader(\n    ds,\n    num_workers=0,  # simple\n)\n", kWorkersKept),
            " d = DataLoader(\n"
            "     ds,\n"
            "-    num_workers=0,  # simple\n"
            "+    num_workers=2,  # simple\n"
            "+    persistent_workers=True,\n"
            " )\n");
}

TEST(CodeDiff, ReplacesAKeywordBesideDoubleStars) {
  EXPECT_EQ(body("d = DataLoader(ds, num_workers=0, **options)\n"),
            "-d = DataLoader(ds, num_workers=0, **options)\n+d = DataLoader(ds, num_workers=2, **options)\n");
}

TEST(CodeDiff, RefusesWhatMayHideInDoubleStars) {
  EXPECT_EQ(diff("d = DataLoader(ds, **options)\n"), "");
}

TEST(CodeDiff, RefusesAPositionHiddenByStars) {
  EXPECT_EQ(diff("d = DataLoader(*arguments)\n"), "");
}

TEST(CodeDiff, AddsAKeywordOnlySettingBehindStars) {
  EXPECT_EQ(body("d = DataLoader(*a)\n", {{"prefetch_factor", "2", "4"}}),
            "-d = DataLoader(*a)\n+d = DataLoader(*a, prefetch_factor=4)\n");
}

TEST(CodeDiff, RefusesPositionsOfASubclass) {
  EXPECT_EQ(diff("d = GraphDataLoader(ds, 8, True, None, None, 0)\n"), "");
}

TEST(CodeDiff, TakesAQualifiedName) {
  EXPECT_NE(diff("d = torch.utils.data.DataLoader(ds)\n"), "");
}

TEST(CodeDiff, RefusesTwoLoadersOnOneLine) {
  EXPECT_EQ(diff("a, b = DataLoader(x), DataLoader(y)\n"), "");
}

TEST(CodeDiff, RefusesADefinition) {
  EXPECT_EQ(diff("class MyDataLoader(Base):\n    pass\n"), "");
}

TEST(CodeDiff, RefusesACallThatIsCutShort) {
  EXPECT_EQ(diff("d = DataLoader(ds,\n"), "");
}

TEST(CodeDiff, RefusesAnFStringThatHoldsItsOwnQuotes) {
  EXPECT_EQ(diff("d = DataLoader(Set(f\"{\", \".join(names)}\"))\n"), "");
}

TEST(CodeDiff, SaysNothingWhenNothingChanges) {
  EXPECT_EQ(diff("d = DataLoader(ds, num_workers=2)\n"), "");
  EXPECT_EQ(diff("d = DataLoader(ds)\n", {{"num_workers", "2", "2"}}), "");
}

TEST(DiffPathTest, IsRelativeInsideTheWorkingDirectoryOnly) {
  EXPECT_EQ(diff_path("/home/u/p/train.py", "/home/u/p"), "train.py");
  EXPECT_EQ(diff_path("/home/u/p2/train.py", "/home/u/p"), "/home/u/p2/train.py");
  EXPECT_EQ(diff_path("/home/u/p/train.py", ""), "/home/u/p/train.py");
}

TEST(CodeDiff, WorkersThatKeepMemoryGetAFunctionOfTheirOwn) {
  const std::vector<Setting> keep = {{"keep_freed_memory", "False", "True"}};
  EXPECT_NE(diff("loader = DataLoader(data, num_workers=2)\n", keep)
                .find("+loader = DataLoader(data, num_workers=2, worker_init_fn=fullbore.keep_freed_memory)"),
            std::string::npos);
  EXPECT_EQ(diff("loader = DataLoader(data, num_workers=2, worker_init_fn=seed)\n", keep), "");
  EXPECT_EQ(diff("loader = DataLoader(data, **options)\n", keep), "");
}

TEST(CodeDiff, LeavesOutWhatIsNoArgument) {
  EXPECT_EQ(diff("loader = DataLoader(data, num_workers=2)\n", {{"worker_threads", "None", "1"}}), "");
}

}  // namespace
}  // namespace fullbore::diagnose
