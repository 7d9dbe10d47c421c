#include "feed/image/index_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "feed/jpeg/testing/pictures.h"

namespace fullbore::image {
namespace {

using ::testing::HasSubstr;

jpeg::Checkpoints some_checkpoints() {
  jpeg::Checkpoints made;
  EXPECT_TRUE(jpeg::Decoder().decode(jpeg::testing::encode({.width = 200, .height = 100}), {.record = &made}));
  return made;
}

class IndexFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "fullbore-index-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/index";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  IndexFile open() {
    auto index = IndexFile::open(path_);
    EXPECT_TRUE(index) << index.error().message();
    return std::move(*index);
  }
  // As one process would: adds a picture, with what it hears of meanwhile going into `records_`.
  base::Expected<bool> add(IndexFile& index, std::uint64_t name) {
    return index.add([&] { return std::vector<IndexEntry>{{name, 100 + name, some_checkpoints().serialise()}}; },
                     found_);
  }

  std::string folder_, path_;
  std::map<std::uint64_t, IndexRecord> records_;
  IndexFile::Found found_ = [this](const IndexRecord& record) { records_[record.name] = record; };
};

TEST_F(IndexFileTest, IsMadeByWhatIsAddedFirst) {
  IndexFile index = open();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(*add(index, 1));
  IndexFile again = open();
  records_.clear();
  again.read_new(found_);
  ASSERT_EQ(records_.size(), 1u);
  const auto loaded = again.load(records_[1]);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->serialise(), some_checkpoints().serialise());
}

TEST_F(IndexFileTest, TwoThatAddSeeEachOther) {
  IndexFile one = open(), other = open();
  EXPECT_TRUE(*add(one, 1));
  EXPECT_TRUE(*add(other, 2));
  EXPECT_TRUE(*add(one, 3));
  records_.clear();
  open().read_new(found_);
  EXPECT_EQ(records_.size(), 3u);
}

TEST_F(IndexFileTest, DoesNotWaitForAnotherThatIsAdding) {
  IndexFile index = open();
  EXPECT_TRUE(*add(index, 1));
  const base::UniqueFd holder(::open(path_.c_str(), O_RDWR));
  ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
  EXPECT_FALSE(*add(index, 2));
}

TEST_F(IndexFileTest, WhatWasCutShortIsOverwrittenByTheNext) {
  IndexFile index = open();
  EXPECT_TRUE(*add(index, 1));
  const auto sound = std::filesystem::file_size(path_);
  EXPECT_TRUE(*add(index, 2));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 3);
  IndexFile again = open();
  EXPECT_TRUE(*add(again, 3));
  records_.clear();
  open().read_new(found_);
  EXPECT_TRUE(records_.contains(1));
  EXPECT_FALSE(records_.contains(2));
  EXPECT_EQ(records_.at(3).offset - records_.at(1).offset, sound - kIndexHeadBytes);
}

TEST_F(IndexFileTest, DamagedCheckpointsAreNotLoaded) {
  IndexFile index = open();
  EXPECT_TRUE(*add(index, 1));
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(records_[1].offset + 40)).put('x');
  file.close();
  EXPECT_FALSE(index.load(records_[1]));
}

TEST_F(IndexFileTest, AFileThatIsNoIndexIsRefusedAndLeftAsItIs) {
  std::ofstream(path_) << "path,label\na.jpg,1\n";
  const auto index = IndexFile::open(path_);
  ASSERT_FALSE(index);
  EXPECT_THAT(index.error().message(), HasSubstr("is no index"));
  EXPECT_EQ(std::filesystem::file_size(path_), 19u);
}

TEST_F(IndexFileTest, AnIndexOfAnotherVersionIsBegunAnew) {
  auto head = make_index_head();
  head[8] = 77;
  std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(head.data()), head.size()) << "rest";
  IndexFile index = open();
  index.read_new(found_);
  EXPECT_TRUE(records_.empty());
  EXPECT_TRUE(*add(index, 1));
  EXPECT_EQ(records_.size(), 1u);
}

TEST_F(IndexFileTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink(folder_ + "/elsewhere", path_);
  EXPECT_FALSE(IndexFile::open(path_));
}

TEST_F(IndexFileTest, WhatDoesNotFitOnTheDiskIsCutOffAndSaid) {
  IndexFile index = open();
  EXPECT_TRUE(*add(index, 1));
  const auto sound = std::filesystem::file_size(path_);
  // The nearest thing to a full disk that needs no disk: a write ends in the middle, and the next one fails.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{sound + 50, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto added = add(index, 2);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message(), HasSubstr("cannot write " + path_));
  EXPECT_EQ(std::filesystem::file_size(path_), sound);
  EXPECT_TRUE(*add(index, 3));
}

}  // namespace
}  // namespace fullbore::image
