#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/sample.h"

namespace fullbore::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text(const diagnose::Diagnosis& d, std::size_t width = 100) {
  return terminal_text(d, {.width = width});
}

TEST(Text, BeginsWithTheVerdict) {
  EXPECT_THAT(text(testing::no_workers_run()),
              StartsWith("The training loop waits 61 % of each step for JPEG decoding"));
}

TEST(Text, ShowsTheStepAsBarsWithAnArrowAtTheGuiltyRow) {
  EXPECT_THAT(terminal_text(testing::no_workers_run(), {.width = 60, .utf8 = false}),
              HasSubstr("Step of 163.2 ms  p50 161.0 - p99 201.3\n"
                        "  input wait      ############            99.8 ms   61.2 % <\n"
                        "  model           ########                61.9 ms   37.9 %\n"));
}

TEST(Text, KeepsUnknownAndLeavesOutPartsThatAreNothing) {
  auto d = testing::no_workers_run();
  d.account.parts["unknown"] = {0, 0};
  EXPECT_THAT(text(d), HasSubstr("  unknown  "));
  EXPECT_THAT(text(d), Not(HasSubstr("  gc  ")));
  EXPECT_THAT(text(d), Not(HasSubstr("gpu compute")));
}

TEST(Text, ShowsTheDeviceWhereItWasTraced) {
  EXPECT_THAT(text(testing::no_workers_run()), Not(HasSubstr("GPU  in")));
  const std::string page = text(testing::traced_run());
  EXPECT_THAT(page, HasSubstr("GPU  17 steps in 3 windows\n"));
  EXPECT_THAT(page, HasSubstr("kernels run     62.0 %, 312 per step\n"));
  EXPECT_THAT(page, HasSubstr("h2d exposed         30.0 %           -      30.0 %           -           -\n"));
  EXPECT_THAT(page, HasSubstr("hidden          4.0 ms per step"));
  EXPECT_THAT(page, HasSubstr("page-locked   20 copies, 100.0 MB each, 50.0 GB/s\n"));
  EXPECT_THAT(page, Not(HasSubstr("pageable")));
}

TEST(Text, ShowsWhichGpuBelongsToWhichRank) {
  auto d = testing::traced_run();
  EXPECT_THAT(text(d), Not(HasSubstr("rank 0")));
  d.facts["gpu rank 10 (pid 7)"] = "0000:2a:00.0 NVIDIA H200, 312 kernels in 44 ms per step";
  d.facts["gpu rank 9 (pid 6)"] = "0000:18:00.0 NVIDIA H200, 312 kernels in 31 ms per step";
  d.facts["slower gpu"] = "rank 10: the same kernels take 44 ms per step";
  EXPECT_THAT(text(d), HasSubstr("  rank 9          0000:18:00.0 NVIDIA H200, 312 kernels in 31 ms per step\n"
                                 "  rank 10         0000:2a:00.0 NVIDIA H200, 312 kernels in 44 ms per step\n"
                                 "  slower          rank 10: the same kernels take 44 ms per step\n"));
}

TEST(Text, ShowsTheCommandAsAWholeWhereNoStepIsKnown) {
  auto d = testing::no_workers_run();
  d.system = {{"cpu.tree_cores", 0.847}, {"cpu.usable_cores", 2.0}, {"cpu.free_cores", std::nullopt}};
  EXPECT_THAT(text(d), Not(HasSubstr("System")));
  d.steps.count = 0;
  EXPECT_THAT(text(d), HasSubstr("  cores           0.85 of 2 in use by the command\n"));
  EXPECT_THAT(text(d), Not(HasSubstr("stalls")));
  d.system = {{"cpu.tree_cores", std::nullopt}};
  EXPECT_THAT(text(d), Not(HasSubstr("System")));
}

TEST(Text, ShowsTheWholeRunOnlyWhereItDiffers) {
  auto d = testing::no_workers_run();
  EXPECT_THAT(text(d), Not(HasSubstr("Whole run")));
  d.whole.step_ms = 210;
  d.whole.parts["checkpoint"] = {46.8, 0.223};
  EXPECT_THAT(text(d), HasSubstr("Whole run, 210.0 ms per step"));
}

TEST(Text, ShowsTheUsersLinesInTheOrderOfTheSource) {
  const std::string page = text(testing::no_workers_run());
  EXPECT_THAT(page, HasSubstr("  train.py:52  for images, labels in loader:  "));
  EXPECT_LT(page.find("train.py:52"), page.find("train.py:54"));
  EXPECT_THAT(page, HasSubstr("99.8   61.2 %  wait\n"));
  EXPECT_THAT(page, HasSubstr("  data.py:18  image = Image.open(path)"));
}

TEST(Text, PutsWhatBelongsToNoLineLast) {
  auto d = testing::no_workers_run();
  d.loop_lines.insert(d.loop_lines.begin(), {{"", 0, ""}, 0.2, 0.001, "rest"});
  EXPECT_GT(text(d).find("(between lines)"), text(d).find("train.py:55"));
}

TEST(Text, SumsTheLinesThatDoNotFit) {
  auto d = testing::no_workers_run();
  for (int line = 60; line < 66; ++line)
    d.loop_lines.push_back({{"/home/ada/train.py", line, "x()"}, 0.4, 0.0025, "model"});
  EXPECT_THAT(text(d), HasSubstr("2 more lines"));
}

TEST(Text, GivesACauseItsChangeBoundRiskAndNextCommand) {
  const std::string page = text(testing::no_workers_run());
  EXPECT_THAT(page, HasSubstr("1  no_workers \u00b7 decode \u00b7 critical \u00b7 61.2 % of the step\n"));
  EXPECT_THAT(page, HasSubstr("   evidence  num_workers             0  DataLoader\n"));
  EXPECT_THAT(page, HasSubstr("   change    make batches in 2 worker processes"));
  EXPECT_THAT(
      page,
      HasSubstr("             +loader = DataLoader(data, batch_size=64, num_workers=2, persistent_workers=True)\n"));
  EXPECT_THAT(page, HasSubstr("   gain      at most 2.58x (bound)\n"));
  EXPECT_THAT(page, HasSubstr("   risk      the same samples"));
  EXPECT_THAT(page, HasSubstr("   why not   pin_memory=True: there is no GPU to copy to\n"));
  EXPECT_THAT(page, HasSubstr("   next      fullbore run --fix=last -- python train.py\n"));
}

TEST(Text, PutsThePredictionBesideTheBound) {
  auto d = testing::no_workers_run();
  d.causes[0].gain.predicted = 2.2;
  d.causes[0].gain.low = 2.0;
  d.causes[0].gain.high = 2.35;
  d.causes[0].gain.with = "with 2 workers";
  EXPECT_THAT(text(d),
              HasSubstr("   gain      predicted 2.20x (2.00x to 2.35x) with 2 workers; at most 2.58x (bound)\n"));
}

TEST(Text, NamesTheLimitThatTheReplayMeetsNext) {
  auto d = testing::no_workers_run();
  d.replay.next = diagnose::NextLimit{"cores", 0.2, 80};
  EXPECT_THAT(
      text(d),
      HasSubstr("next limit   the cores that the job may use; after the first change a step would take 80.0 ms"));
}

TEST(Text, SaysWhyNothingIsPredicted) {
  auto d = testing::no_workers_run();
  d.replay.why = "the loop reads no torch DataLoader";
  EXPECT_THAT(text(d), HasSubstr("No gain is predicted, only bounded: the loop reads no torch DataLoader.\n"));
}

TEST(Text, NamesTwoChangesThatGainMoreTogether) {
  auto d = testing::no_workers_run();
  d.replay.pair = diagnose::Pair{
      "slow_worker", "cpu_quota", {.max = {}, .predicted = 3.0, .low = {}, .high = {}, .kind = "replay", .with = ""}};
  EXPECT_THAT(text(d), HasSubstr("together     slow_worker and cpu_quota: predicted 3.00x\n"));
}

TEST(Text, CountsNoLossForACauseThatIsNone) {
  auto d = testing::no_workers_run();
  d.causes[0].severity = diagnose::Severity::kNone;
  EXPECT_THAT(text(d), HasSubstr("1  no_workers \u00b7 decode\n"));
}

TEST(Text, ShowsThreeCausesAtMost) {
  auto d = testing::no_workers_run();
  for (const char* id : {"worker_restart", "small_files", "slow_samples"}) {
    d.causes.push_back(d.causes[0]);
    d.causes.back().cause = id;
  }
  EXPECT_THAT(text(d), HasSubstr("3  small_files"));
  EXPECT_THAT(text(d), Not(HasSubstr("4  slow_samples")));
}

TEST(Text, NamesTheNextLimitUnlessTheNextCauseDoes) {
  auto d = testing::no_workers_run();
  EXPECT_THAT(text(d), HasSubstr("next limit   model, 61.9 ms of each step\n"));
  d.causes.push_back(d.causes[0]);
  EXPECT_THAT(text(d), Not(HasSubstr("next limit")));
}

TEST(Text, SaysWhatTheFixDidAndLeftAlone) {
  const std::string page = text(testing::fixed_run());
  EXPECT_THAT(page, HasSubstr("  applied    num_workers=2 (was 0) at train.py:41\n"));
  EXPECT_THAT(page, HasSubstr("  left alone pin_memory=False at train.py:41: there is no GPU to copy to\n"));
  EXPECT_THAT(page, HasSubstr("  random     the same samples, each once per epoch"));
  EXPECT_THAT(page, HasSubstr("             +loader = DataLoader("));
}

TEST(Text, ListsWhatIsMissingWithItsReason) {
  EXPECT_THAT(text(testing::short_run()), HasSubstr("Not measured\n  steps  the command ended after 4 steps\n"));
}

TEST(Text, SaysWhatWasLostWhereTheRunEnded) {
  auto d = testing::no_workers_run();
  d.causes[0].cost = "the run ended at step 41";
  EXPECT_THAT(text(d), HasSubstr("critical · the run ended at step 41\n"));
}

TEST(Text, PrintsNoNumberWhereNothingWasJudged) {
  EXPECT_EQ(text(testing::short_run()),
            "Not enough to judge: 4 steps were seen, 20 are needed.\n"
            "Confidence is low: only 4 steady steps.\n"
            "The command ended with exit code 1.\n"
            "\n"
            "Not measured\n"
            "  steps  the command ended after 4 steps\n");
}

TEST(Text, LeavesOutOverheadThatWasNotMeasured) {
  auto d = testing::no_workers_run();
  EXPECT_THAT(text(d), HasSubstr("watching cost  hook 14.2 us per step, collector cpu 0.4 %, collector 21 MiB\n"));
  d.overhead = {{"hook_us_per_step", std::nullopt}};
  EXPECT_THAT(text(d), Not(HasSubstr("watching cost")));
}

TEST(Text, KeepsToTheWidthExceptForWhatIsPasted) {
  for (const std::size_t width : {60, 72, 80, 100, 132, 200}) {
    auto d = testing::no_workers_run();
    d.causes[0].fix.diff.clear();
    const std::string page = text(d, width);
    for (std::size_t at = 0; at < page.size();) {
      const std::size_t end = page.find('\n', at);
      EXPECT_LE(columns_of(page.substr(at, end - at)), width) << page.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(Text, HasNoColourUnlessAskedAndTheSameWordsWithIt) {
  const auto d = testing::no_workers_run();
  EXPECT_THAT(text(d), Not(HasSubstr("\x1b")));
  std::string painted = terminal_text(d, {.width = 100, .color = true});
  for (std::size_t at = painted.find('\x1b'); at != std::string::npos; at = painted.find('\x1b')) {
    painted.erase(at, painted.find('m', at) - at + 1);
  }
  EXPECT_EQ(painted, text(d));
}

TEST(Text, IsPlainAsciiWhereTheLocaleIs) {
  auto d = testing::no_workers_run();
  d.loop_lines[0].where.code = "caf\u00e9()";
  for (const char c : terminal_text(d, {.utf8 = false})) EXPECT_GE(c, 0);
}

TEST(Text, LetsNoEscapeSequenceOfAScriptThrough) {
  auto d = testing::no_workers_run();
  d.loop_lines[0].where.code = "print('\x1b[2J')";
  d.causes[0].fix.next_command = "python '\x1b]0;x\x07.py'";
  EXPECT_THAT(text(d), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fullbore::report
