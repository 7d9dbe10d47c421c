#include "feed/jpeg/scan_bytes.h"

#include <gmock/gmock.h>

namespace fullbore::jpeg {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint8_t> content(const ScanBytes& bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

TEST(ScanBytesTest, LeavesStuffedZerosOutAndStopsAtAMarker) {
  const std::vector<std::uint8_t> file = {9, 1, 0xff, 0, 2, 0xff, 0, 0xff, 0, 0xff, 0xd9, 3};
  ScanBytes bytes;
  bytes.take(file, 1, file.size());
  EXPECT_THAT(content(bytes), ElementsAre(1, 0xff, 2, 0xff, 0xff));
  EXPECT_TRUE(bytes.at_marker());
  EXPECT_EQ(bytes.stopped_at(), 9u);
}

TEST(ScanBytesTest, KnowsWhereItsBytesLieInTheFile) {
  const std::vector<std::uint8_t> file = {9, 1, 0xff, 0, 2, 0xff, 0, 0xff, 0, 5, 0xff, 0xd9};
  ScanBytes bytes;
  bytes.take(file, 1, file.size());
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i <= bytes.size(); ++i) offsets.push_back(bytes.file_offset(i));
  EXPECT_THAT(offsets, ElementsAre(1, 2, 4, 5, 7, 9, 10));
}

TEST(ScanBytesTest, AnEndThatCutsAMarkerIsNoMarker) {
  const std::vector<std::uint8_t> file = {1, 2, 0xff, 0xd9};
  ScanBytes bytes;
  bytes.take(file, 0, 3);
  EXPECT_THAT(content(bytes), ElementsAre(1, 2));
  EXPECT_FALSE(bytes.at_marker());
}

TEST(ScanBytesTest, SeveralFfBeforeAZeroAreNeitherDataNorAMarker) {
  const std::vector<std::uint8_t> file = {1, 0xff, 0xff, 0, 2, 0xff, 0xd9};
  ScanBytes bytes;
  bytes.take(file, 0, file.size());
  EXPECT_THAT(content(bytes), ElementsAre(1));
  EXPECT_FALSE(bytes.at_marker());
  EXPECT_TRUE(bytes.at_bad_stuffing());
}

TEST(ScanBytesTest, AnOffsetBehindTheFileGivesNothing) {
  const std::vector<std::uint8_t> file = {1, 2};
  ScanBytes bytes;
  bytes.take(file, 7, 9);
  EXPECT_EQ(bytes.size(), 0u);
}

}  // namespace
}  // namespace fullbore::jpeg
