#include "observe/command.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace fullbore::observe {
namespace {

using Texts = std::map<std::string, std::string>;

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FindProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "command_test.XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void make(const std::string& name, mode_t mode) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ::chmod((folder_ + "/" + name).c_str(), mode);
  }
  int error_of(const std::string& name) {
    const auto found = find_program(name, "/nowhere:" + folder_);
    return found ? 0 : found.error().error_number();
  }
  std::string folder_;
};

TEST_F(FindProgramTest, SearchesThePath) {
  make("train", 0755);
  EXPECT_EQ(find_program("train", "/nowhere:" + folder_).value(), folder_ + "/train");
}

TEST_F(FindProgramTest, TellsNotFoundFromNotExecutable) {
  make("plain", 0644);
  EXPECT_EQ(error_of("plain"), EACCES);
  EXPECT_EQ(error_of("none"), ENOENT);
  EXPECT_EQ(error_of(folder_ + "/plain"), EACCES);
  EXPECT_EQ(error_of(folder_ + "/none"), ENOENT);
  EXPECT_EQ(error_of(folder_), EISDIR);
  EXPECT_EQ(error_of(""), ENOENT);
}

TEST(RunningJob, RefusesAPid) {
  const base::InMemoryFiles files(Texts{{"/proc/4711/stat", "4711 (python) S"}});
  EXPECT_THAT(running_job({"4711"}, files), HasSubstr("4711 is a process id, not a command"));
  EXPECT_THAT(running_job({"4712"}, files), HasSubstr("4712 is a number, not a command"));
}

TEST(RunningJob, RefusesTheNameOfAScriptThatRuns) {
  const base::InMemoryFiles files(Texts{{"/proc/4711/cmdline", std::string("python\0/home/a/train.py\0--lr", 28)}});
  EXPECT_THAT(running_job({"train.py"}, files), HasSubstr("running job (process 4711)"));
  EXPECT_THAT(running_job({"other.py"}, files), IsEmpty());
  EXPECT_THAT(running_job({"train.py", "x"}, files), IsEmpty());
}

TEST(LostEnvironment, NamesTheLineToUse) {
  EXPECT_THAT(lost_environment({"/usr/bin/srun", "-N2", "python", "train.py"}), HasSubstr("srun ... fullbore run"));
  EXPECT_THAT(lost_environment({"docker", "run", "image", "python"}), HasSubstr("IMAGE fullbore run"));
  EXPECT_THAT(lost_environment({"ray", "job", "submit"}), HasSubstr("ray job submit"));
}

TEST(LostEnvironment, IsSilentWhereNothingIsLost) {
  EXPECT_THAT(lost_environment({"docker", "ps"}), IsEmpty());
  EXPECT_THAT(lost_environment({"python", "train.py"}), IsEmpty());
  EXPECT_THAT(lost_environment({"srun", "fullbore", "run", "--", "python"}), IsEmpty());
  EXPECT_THAT(lost_environment({}), IsEmpty());
}

TEST(IgnoresHook, FindsTheFlagsThatKeepSitecustomizeOut) {
  std::string flag;
  EXPECT_TRUE(ignores_hook({"python3.11", "-I", "train.py"}, flag));
  EXPECT_EQ(flag, "-I");
  EXPECT_TRUE(ignores_hook({"/usr/bin/python", "-uS", "train.py"}, flag));
  EXPECT_FALSE(ignores_hook({"python", "train.py", "-I"}, flag));
  EXPECT_FALSE(ignores_hook({"python", "-c", "-I"}, flag));
  EXPECT_FALSE(ignores_hook({"bash", "-I"}, flag));
}

TEST(ShellLine, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_line({"python", "a b.py", "it's", "--x=1", ""}), "python 'a b.py' 'it'\\''s' --x=1 ''");
}

}  // namespace
}  // namespace fullbore::observe
