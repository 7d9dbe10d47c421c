#include <gmock/gmock.h>

#include "feed/jpeg/testing/pictures.h"
#include "fullbore/jpeg.h"

namespace fullbore::jpeg {
namespace {

using ::testing::HasSubstr;

Checkpoints made_for(const std::vector<std::uint8_t>& file) {
  Checkpoints made;
  EXPECT_TRUE(Decoder().decode(file, {.record = &made}));
  return made;
}

TEST(CheckpointsTest, ComeBackAsTheyWereSerialised) {
  const Checkpoints made = made_for(testing::encode({.width = 300, .height = 100}));
  EXPECT_EQ(made.mcus_per_row(), 19u);
  EXPECT_EQ(made.rows(), 7u);
  ASSERT_EQ(made.points().size(), 3 * 7 + 1u);
  const auto kept = Checkpoints::parse(made.serialise());
  ASSERT_TRUE(kept) << kept.error().message;
  for (std::size_t i = 0; i < made.points().size(); ++i) {
    EXPECT_EQ(kept->points()[i].offset, made.points()[i].offset);
    EXPECT_EQ(kept->points()[i].bit, made.points()[i].bit);
    EXPECT_TRUE(std::ranges::equal(kept->points()[i].dc, made.points()[i].dc));
  }
}

TEST(CheckpointsTest, AnyDamagedByteAndAnyCutIsRefused) {
  const auto bytes = made_for(testing::encode({.width = 120, .height = 60})).serialise();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(Checkpoints::parse(std::span(bytes).first(i))) << "cut at " << i;
    auto damaged = bytes;
    damaged[i] ^= 4;
    EXPECT_FALSE(Checkpoints::parse(damaged)) << "byte " << i;
  }
}

TEST(CheckpointsTest, ThoseOfAPictureOfAnotherSizeAreRefused) {
  const Checkpoints made = made_for(testing::encode({.width = 120, .height = 60}));
  const auto other = testing::encode({.width = 160, .height = 60});
  const auto decoded = Decoder().decode(other, {.checkpoints = &made});
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().kind, ErrorKind::kArgument);
}

TEST(CheckpointsTest, ThoseOfAnotherPictureOfThatSizeAreFoundToContradictIt) {
  const Checkpoints made = made_for(testing::encode({.width = 256, .height = 64, .seed = 1}));
  const auto other = testing::encode({.width = 256, .height = 64, .seed = 2});
  EXPECT_FALSE(Decoder().decode(other, {.checkpoints = &made}));
}

TEST(CheckpointsTest, ThatIsFoundInAnyWindow) {
  const Checkpoints made = made_for(testing::encode({.width = 256, .height = 64, .seed = 1}));
  const auto other = testing::encode({.width = 256, .height = 64, .seed = 2});
  const Checkpoints right = made_for(other);
  for (std::uint32_t x = 0; x < 200; x += 7) {
    const Rect window{x, 20, 50, 30};
    EXPECT_FALSE(Decoder().decode(other, {.window = window, .checkpoints = &made})) << x;
    EXPECT_TRUE(Decoder().decode(other, {.window = window, .checkpoints = &right})) << x;
  }
}

TEST(CheckpointsTest, ThoseThatAreAllWrongByTheSameAreFoundOut) {
  const auto file = testing::encode({.width = 256, .height = 64});
  const Checkpoints made = made_for(file);
  auto points = made.points();
  for (Checkpoints::Point& point : points) point.dc[0] = static_cast<std::int16_t>(point.dc[0] + 9);
  const Checkpoints brighter(made.mcus_per_row(), made.rows(), std::move(points));
  EXPECT_FALSE(Decoder().decode(file, {.checkpoints = &brighter}));
}

TEST(CheckpointsTest, APictureInSeveralScansHasNone) {
  EXPECT_TRUE(made_for(testing::encode({.separate_scans = true})).empty());
}

}  // namespace
}  // namespace fullbore::jpeg
