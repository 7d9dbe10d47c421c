#include "feed/image/checkpoint_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "feed/jpeg/testing/pictures.h"

namespace fullbore::image {
namespace {

jpeg::Checkpoints some() {
  const auto file = jpeg::testing::encode({.width = 200, .height = 100});
  jpeg::Checkpoints checkpoints;
  EXPECT_TRUE(jpeg::Decoder().decode(file, {.record = &checkpoints}));
  EXPECT_FALSE(checkpoints.empty());
  return checkpoints;
}

Catalogue pictures(int count) {
  Catalogue catalogue("");
  for (int i = 0; i < count; ++i) catalogue.add("a/" + std::to_string(i) + ".jpg", 0);
  return catalogue;
}

TEST(CheckpointStoreTest, GivesBackWhatWasKeptForTheSameFile) {
  const Catalogue three = pictures(3);
  CheckpointStore store(three, 1 << 20);
  EXPECT_TRUE(store.wants(1, 5000));
  store.keep(1, 5000, some());
  EXPECT_FALSE(store.wants(1, 5000));
  const auto found = store.find(1, 5000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->serialise(), some().serialise());
  EXPECT_FALSE(store.find(1, 5001));  // another file by now
  EXPECT_FALSE(store.find(2, 5000));
}

TEST(CheckpointStoreTest, StopsAtItsBudget) {
  const Catalogue many = pictures(100);
  CheckpointStore store(many, 3 * some().serialise().size());
  for (std::uint64_t i = 0; i < 100; ++i) store.keep(i, 5000, some());
  EXPECT_TRUE(store.find(0, 5000));
  EXPECT_FALSE(store.find(99, 5000));
  EXPECT_LE(store.bytes(), 5 * some().serialise().size());
}

TEST(CheckpointStoreTest, WithoutABudgetNothingIsKept) {
  const Catalogue three = pictures(3);
  CheckpointStore store(three, 0);
  EXPECT_FALSE(store.wants(0, 5000));
  store.keep(0, 5000, some());
  EXPECT_FALSE(store.find(0, 5000));
}

TEST(CheckpointStoreTest, PicturesThatCannotHaveAnyKeepNone) {
  const Catalogue three = pictures(3);
  CheckpointStore store(three, 1 << 20);
  store.keep(0, 5000, jpeg::Checkpoints());
  EXPECT_EQ(store.bytes(), 0u);
}

class IndexedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "fullbore-store-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/index";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  IndexFile open() { return std::move(*IndexFile::open(path_)); }

  std::string folder_, path_;
  const Catalogue three_ = pictures(3);
};

TEST_F(IndexedStoreTest, WhatOneKeepsTheNextFinds) {
  CheckpointStore(three_, 0, open()).keep(1, 77, some());
  const CheckpointStore next(three_, 0, open());
  EXPECT_TRUE(next.find(1, 77));
  EXPECT_FALSE(next.find(1, 78));
  EXPECT_TRUE(next.wants(1, 78));
}

TEST_F(IndexedStoreTest, AFoundPictureIsToldByItsNameNotItsNumber) {
  CheckpointStore(three_, 0, open()).keep(1, 77, some());
  Catalogue other("");
  other.add("a/1.jpg", 0);
  EXPECT_TRUE(CheckpointStore(other, 0, open()).find(0, 77));
}

TEST_F(IndexedStoreTest, WhatTwoRecordIsWrittenOnce) {
  CheckpointStore one(three_, 0, open()), other(three_, 0, open());
  one.keep(1, 77, some());
  other.keep(1, 77, some());
  one.refresh();
  const auto size = std::filesystem::file_size(path_);
  other.refresh();
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_TRUE(other.find(1, 77));
}

TEST_F(IndexedStoreTest, ThatAPictureCanHaveNoneIsRemembered) {
  CheckpointStore(three_, 0, open()).keep(2, 77, jpeg::Checkpoints());
  EXPECT_FALSE(CheckpointStore(three_, 0, open()).wants(2, 77));
}

TEST_F(IndexedStoreTest, ForgottenOnesAreReplaced) {
  {
    CheckpointStore store(three_, 0, open());
    store.keep(1, 77, some());
    store.refresh();
    store.forget(1);
    EXPECT_FALSE(store.find(1, 77));
    ASSERT_TRUE(store.wants(1, 77));
    store.keep(1, 77, jpeg::Checkpoints());
  }
  EXPECT_FALSE(CheckpointStore(three_, 0, open()).find(1, 77));
}

TEST_F(IndexedStoreTest, MemoryTakesOverWhenTheFileCannotBeWritten) {
  CheckpointStore store(three_, 1 << 20, open());
  std::filesystem::remove_all(folder_);
  store.keep(1, 77, some());
  store.refresh();
  EXPECT_NE(store.problem(), "");
  EXPECT_TRUE(store.find(1, 77));
  EXPECT_GT(store.bytes(), 0u);
}

TEST_F(IndexedStoreTest, WhatCannotBeWrittenNowIsWrittenLater) {
  CheckpointStore store(three_, 0, open());
  store.keep(0, 7, some());
  store.refresh();
  {
    const base::UniqueFd holder(::open(path_.c_str(), O_RDWR));
    ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
    store.keep(1, 77, some());
    store.refresh();
    EXPECT_FALSE(store.find(1, 77));
  }
  store.refresh();
  EXPECT_TRUE(store.find(1, 77));
}

}  // namespace
}  // namespace fullbore::image
