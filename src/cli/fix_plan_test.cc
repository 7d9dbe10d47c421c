#include "cli/fix_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "record/run_info.h"

namespace fullbore::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

diagnose::Cause cause(const std::string& file, int line, std::vector<diagnose::Setting> settings) {
  diagnose::Cause result;
  result.fix.where = diagnose::Location{file, line, ""};
  result.fix.settings = std::move(settings);
  return result;
}

TEST(Recommended, GathersSettingsByLoader) {
  diagnose::Diagnosis d;
  d.causes = {cause("train.py", 41, {{"num_workers", "0", "2"}}), cause("train.py", 60, {{"num_workers", "0", "1"}}),
              cause("train.py", 41, {{"persistent_workers", "False", "True"}})};
  const auto fixes = recommended(d);
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(fixes[0].line, 41);
  EXPECT_THAT(fixes[0].settings, ElementsAre(Pair("num_workers", "2"), Pair("persistent_workers", "True")));
  EXPECT_THAT(fixes[1].settings, ElementsAre(Pair("num_workers", "1")));
}

TEST(Recommended, LetsTheFirstCauseWin) {
  diagnose::Diagnosis d;
  d.causes = {cause("train.py", 41, {{"num_workers", "0", "2"}}), cause("train.py", 41, {{"num_workers", "0", "8"}})};
  EXPECT_THAT(recommended(d)[0].settings, ElementsAre(Pair("num_workers", "2")));
}

TEST(Recommended, LeavesOutWhatNoMachineCanApply) {
  diagnose::Diagnosis d;
  d.causes = {diagnose::Cause{}};
  d.causes[0].fix.settings = {{"num_workers", "0", "2"}};
  EXPECT_THAT(recommended(d), IsEmpty());
}

class PlanFix : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "plan-fix-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  void add(const std::string& name, const std::string& script, const std::string& fix = "") {
    fs::create_directories(directory_ / name);
    record::RunInfo info;
    info.command = {"python", script};
    info.working_directory = "/home/ada";
    info.started_utc = "2026-11-30T10:00:0" + name + "Z";
    info.end_ns = 1;
    info.fix = fix;
    std::ofstream(directory_ / name / "run.json") << record::to_json(info);
  }
  base::Expected<PlannedFix> plan(const std::string& value) const {
    return plan_fix({value, {"python", "train.py"}, "/home/ada", directory_});
  }

  fs::path directory_;
};

TEST_F(PlanFix, TakesTheNewestRunOfTheSameCommandThatRanAsIs) {
  add("1", "train.py");
  add("2", "train.py");
  add("3", "train.py", "plain");
  add("4", "other.py");
  const auto planned = plan("");
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->plan.mode, "run");
  EXPECT_EQ(planned->plan.from, (directory_ / "2").string());
  EXPECT_THAT(planned->note, HasSubstr((directory_ / "2").string()));
}

TEST_F(PlanFix, GoesByTheMachineWhereNothingRanBefore) {
  add("4", "other.py");
  EXPECT_EQ(plan("")->plan.mode, "plain");
}

TEST_F(PlanFix, KnowsExactAndNamesARunThatIsNotThere) {
  EXPECT_EQ(plan("exact")->plan.mode, "exact");
  EXPECT_THAT(plan("last").error().message(), HasSubstr("no run in"));
}

TEST_F(PlanFix, SaysWhenTheReportHasNothingToApply) {
  add("1", "train.py");
  const auto planned = plan("last");
  ASSERT_TRUE(planned);
  EXPECT_THAT(planned->plan.loaders, IsEmpty());
  EXPECT_THAT(planned->note, HasSubstr("has no setting to apply (insufficient_data); running as it is"));
}

}  // namespace
}  // namespace fullbore::cli
