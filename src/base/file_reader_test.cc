#include "base/file_reader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fullbore::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Both readers keep the same promises, so each promise is asked of both.
struct World {
  std::unique_ptr<FileReader> files;
  std::filesystem::path root;
  ~World() {
    if (!root.empty()) std::filesystem::remove_all(root);
  }
};

World in_memory() {
  return {std::make_unique<InMemoryFiles>(
              std::map<std::string, std::string>{{"/proc/stat", "cpu 1\n"}, {"/proc/7/io", "rchar: 5\n"}},
              std::map<std::string, std::string>{{"/proc/7/cwd", "/data"}}),
          {}};
}

World on_disk() {
  std::string name = (std::filesystem::temp_directory_path() / "fullbore-files-XXXXXX").string();
  const std::filesystem::path root = mkdtemp(name.data());
  std::filesystem::create_directories(root / "proc/7");
  std::ofstream(root / "proc/stat") << "cpu 1\n";
  std::ofstream(root / "proc/7/io") << "rchar: 5\n";
  std::filesystem::create_symlink("/data", root / "proc/7/cwd");
  return {std::make_unique<RealFiles>(root.string()), root};
}

class FileReaderTest : public testing::TestWithParam<World (*)()> {};
INSTANTIATE_TEST_SUITE_P(Readers, FileReaderTest, testing::Values(&in_memory, &on_disk));

TEST_P(FileReaderTest, ReadsAWholeFile) {
  EXPECT_EQ(GetParam()().files->read("/proc/stat").value(), "cpu 1\n");
}

TEST_P(FileReaderTest, ListsNamesInOrderOnce) {
  const World world = GetParam()();
  EXPECT_THAT(world.files->list("/proc").value(), ElementsAre("7", "stat"));
  EXPECT_THAT(world.files->list("/proc/7").value(), ElementsAre("cwd", "io"));
}

TEST_P(FileReaderTest, ReadsALink) {
  EXPECT_EQ(GetParam()().files->read_link("/proc/7/cwd").value(), "/data");
}

TEST_P(FileReaderTest, NamesTheMissingFileAndTheReason) {
  const World world = GetParam()();
  const auto content = world.files->read("/proc/pressure/io");
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().message(), HasSubstr("/proc/pressure/io: No such file"));
  EXPECT_EQ(content.error().error_number(), ENOENT);
  EXPECT_FALSE(world.files->list("/sys"));
  EXPECT_FALSE(world.files->read_link("/proc/7/exe"));
}

TEST(RealFilesTest, ReadsProcFilesThatSayTheyAreEmpty) {
  EXPECT_THAT(RealFiles().read("/proc/self/status").value(), HasSubstr("Pid:"));
}

}  // namespace
}  // namespace fullbore::base
