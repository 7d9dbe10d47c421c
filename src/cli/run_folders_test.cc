#include "cli/run_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "record/run_info.h"

namespace fullbore::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "run-folders-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string add(const std::string& name, const std::string& started_utc, bool ended = true) {
    const fs::path folder = directory_ / name;
    fs::create_directories(folder / "rank-0");
    record::RunInfo info;
    info.command = {"python", "train.py"};
    info.started_utc = started_utc;
    if (ended) info.end_ns = 1'000'000'000;
    write(folder / "run.json", record::to_json(info));
    write(folder / "rank-0/records.fbr", "0123456789");
    return folder;
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path directory_;
};

TEST_F(RunFolders, AreListedNewestFirst) {
  const std::string old = add("b", "2026-11-29T10:00:00Z");
  const std::string young = add("a", "2026-11-30T10:00:00Z");
  const auto runs = list_runs(directory_);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].path, young);
  EXPECT_EQ(runs[1].path, old);
  EXPECT_GE(runs[0].bytes, 10u);
}

TEST_F(RunFolders, LeaveOutWhatIsNoRun) {
  const std::string run = add("run", "2026-11-30T10:00:00Z");
  fs::create_directories(directory_ / "other");
  fs::create_directories(directory_ / "broken");
  write(directory_ / "broken/run.json", "{");
  fs::create_directory_symlink(run, directory_ / "link");
  EXPECT_EQ(list_runs(directory_).size(), 1u);
  EXPECT_TRUE(list_runs((directory_ / "none").string()).empty());
}

TEST_F(RunFolders, AreFoundByPathAndByAge) {
  const std::string old = add("a", "2026-11-29T10:00:00Z");
  const std::string young = add("b", "2026-11-30T10:00:00Z");
  EXPECT_EQ(*resolve_run("last", directory_), young);
  EXPECT_EQ(*resolve_run("last~1", directory_), old);
  EXPECT_EQ(*resolve_run(old, directory_), old);
}

TEST_F(RunFolders, SayWhyARunIsNotThere) {
  EXPECT_THAT(resolve_run("last", directory_).error().message(), HasSubstr("no run in"));
  add("a", "2026-11-29T10:00:00Z");
  EXPECT_THAT(resolve_run("last~3", directory_).error().message(), HasSubstr("holds only 1"));
  EXPECT_THAT(resolve_run("last~x", directory_).error().message(), HasSubstr("no run 'last~x'"));
  EXPECT_THAT(resolve_run(directory_, directory_).error().message(), HasSubstr("holds no run.json"));
}

TEST_F(RunFolders, AreRemovedWhole) {
  const std::string run = add("a", "2026-11-29T10:00:00Z");
  write(run + "/report.json", "{}");
  EXPECT_TRUE(remove_run(run));
  EXPECT_FALSE(fs::exists(run));
}

TEST_F(RunFolders, KeepWhatSomeoneElsePutThere) {
  const std::string run = add("a", "2026-11-29T10:00:00Z");
  write(run + "/notes.txt", "mine");
  EXPECT_THAT(remove_run(run).error().message(), HasSubstr("holds files that are not Fullbore's"));
  EXPECT_TRUE(fs::exists(run + "/notes.txt"));
  EXPECT_TRUE(fs::exists(run + "/run.json"));
}

TEST_F(RunFolders, RemoveNothingBehindALink) {
  const std::string run = add("a", "2026-11-29T10:00:00Z");
  fs::create_directories(directory_ / "precious");
  write(directory_ / "precious/records.fbr", "data");
  fs::create_directory_symlink(directory_ / "precious", run + "/rank-1");
  fs::create_directory_symlink(run, directory_ / "link");
  EXPECT_FALSE(remove_run(run));
  EXPECT_FALSE(remove_run((directory_ / "link").string()));
  EXPECT_FALSE(remove_run((directory_ / "precious").string()));
  EXPECT_TRUE(fs::exists(directory_ / "precious/records.fbr"));
}

TEST_F(RunFolders, AreInProgressWhileTheyGrowWithoutAnEnd) {
  add("a", "2026-11-29T10:00:00Z", false);
  EXPECT_TRUE(is_in_progress(list_runs(directory_)[0]));
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(5);
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) fs::last_write_time(entry.path(), old);
  EXPECT_FALSE(is_in_progress(list_runs(directory_)[0]));
}

}  // namespace
}  // namespace fullbore::cli
