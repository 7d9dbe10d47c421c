#include "feed/image/checkpoint_store.h"

#include <gtest/gtest.h>

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

TEST(CheckpointStoreTest, GivesBackWhatWasKeptForTheSameFile) {
  CheckpointStore store(3, 1 << 20);
  EXPECT_TRUE(store.wants(1));
  store.keep(1, 5000, some());
  EXPECT_FALSE(store.wants(1));
  const auto found = store.find(1, 5000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->serialise(), some().serialise());
  EXPECT_FALSE(store.find(1, 5001));  // another file by now
  EXPECT_FALSE(store.find(2, 5000));
}

TEST(CheckpointStoreTest, StopsAtItsBudget) {
  CheckpointStore store(100, 3 * some().serialise().size());
  for (std::uint64_t i = 0; i < 100; ++i) store.keep(i, 5000, some());
  EXPECT_TRUE(store.find(0, 5000));
  EXPECT_FALSE(store.find(99, 5000));
  EXPECT_LE(store.bytes(), 5 * some().serialise().size());
}

TEST(CheckpointStoreTest, WithoutABudgetNothingIsKept) {
  CheckpointStore store(3, 0);
  EXPECT_FALSE(store.wants(0));
  store.keep(0, 5000, some());
  EXPECT_FALSE(store.find(0, 5000));
}

TEST(CheckpointStoreTest, PicturesThatCannotHaveAnyKeepNone) {
  CheckpointStore store(3, 1 << 20);
  store.keep(0, 5000, jpeg::Checkpoints());
  EXPECT_EQ(store.bytes(), 0u);
}

}  // namespace
}  // namespace fullbore::image
