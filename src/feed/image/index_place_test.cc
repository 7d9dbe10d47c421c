#include "feed/image/index_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fullbore::image {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class IndexPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "fullbore-place-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    data_ = folder + "/train";
    fs::create_directory(data_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_, data_;
};

TEST_F(IndexPlaceTest, LiesInAFolderAndBesideAList) {
  EXPECT_EQ(index_beside(data_), data_ + "/.fullbore-index");
  EXPECT_EQ(index_beside(data_ + ".csv"), data_ + ".csv.fullbore-index");
}

TEST_F(IndexPlaceTest, NoneIsOpenedWhenNoneIsWanted) {
  const auto opened = open_index(data_, "", folder_ + "/cache");
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->file);
  EXPECT_EQ(opened->problem, "");
}

TEST_F(IndexPlaceTest, APathThatCannotBeUsedIsAnError) {
  EXPECT_FALSE(open_index(data_, folder_ + "/missing/index", ""));
}

TEST_F(IndexPlaceTest, AForeignFileBesideTheDataIsSaidAndDoesNotMatter) {
  std::ofstream(data_ + "/.fullbore-index") << "notes of mine";
  const auto opened = open_index(data_, "auto", folder_ + "/cache");
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->file);
  EXPECT_THAT(opened->problem, HasSubstr("is no index"));
}

// Permissions mean nothing to root.
void become_nobody() {
  if (::geteuid() == 0 && ::seteuid(65534) != 0) std::_Exit(9);
}

TEST_F(IndexPlaceTest, ReadOnlyDataHaveTheirsInTheCacheFolder) {
  const std::string cache = folder_ + "/cache";
  ASSERT_EQ(::chmod(data_.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  const auto check = [&] {
    become_nobody();
    auto opened = open_index(data_, "auto", cache);
    if (!opened || !opened->file || !opened->file->path().starts_with(cache + "/train-")) std::_Exit(1);
    const auto without = open_index(data_, "auto", "");
    std::_Exit(without && !without->file && without->problem.starts_with("cannot make") ? 0 : 2);
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

TEST_F(IndexPlaceTest, OneThatIsThereAndMayNotBeWrittenIsRead) {
  const std::string path = data_ + "/.fullbore-index";
  const auto head = make_index_head();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(head.data()), head.size());
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  const auto check = [&] {
    become_nobody();
    const auto opened = open_index(data_, "auto", folder_ + "/cache");
    std::_Exit(opened && opened->file && opened->file->path() == path && !opened->file->writable() ? 0 : 1);
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fullbore::image
