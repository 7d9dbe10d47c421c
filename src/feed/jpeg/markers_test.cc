#include "feed/jpeg/markers.h"

#include <gmock/gmock.h>

#include "feed/jpeg/testing/pictures.h"

namespace fullbore::jpeg {
namespace {

using ::testing::HasSubstr;

const std::vector<std::uint8_t>& sample() {
  static const auto file = testing::encode({.width = 33, .height = 17, .restart_interval = 3});
  return file;
}

std::size_t find_marker(const std::vector<std::uint8_t>& file, std::uint8_t code) {
  for (std::size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == 0xff && file[i + 1] == code) return i;
  }
  return file.size();
}

TEST(MarkersTest, ReadsSizeSamplingTablesAndTheFirstScan) {
  const auto headers = read_headers(sample());
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_EQ(headers->frame.width, 33u);
  EXPECT_EQ(headers->frame.height, 17u);
  EXPECT_EQ(headers->frame.coding, Coding::kBaseline);
  EXPECT_EQ(headers->frame.color, ColorModel::kYcc);
  EXPECT_EQ(headers->frame.components[1].width, 17u);
  EXPECT_EQ(headers->frame.components[1].height, 9u);
  EXPECT_EQ(headers->scan.component_count, 3u);
  EXPECT_EQ(headers->scan.restart_interval, 3u);
  EXPECT_EQ(headers->scan.data, find_marker(sample(), 0xda) + 14);
  EXPECT_TRUE(headers->quant[1] && headers->dc[1] && headers->ac[1]);
}

TEST(MarkersTest, AFileCutInsideTheHeadersIsRefused) {
  const std::size_t data = read_headers(sample())->scan.data;
  for (std::size_t length = 0; length < data; ++length) {
    EXPECT_FALSE(read_headers(FileBytes(sample()).first(length))) << "cut at " << length;
  }
}

TEST(MarkersTest, GuessesTheColorModelAsLibjpegTurboDoes) {
  using testing::Color;
  const auto color_of = [](Color color) { return read_headers(testing::encode({.color = color}))->frame.color; };
  EXPECT_EQ(color_of(Color::kGray), ColorModel::kGray);
  EXPECT_EQ(color_of(Color::kRgb), ColorModel::kRgb);
  EXPECT_EQ(color_of(Color::kCmyk), ColorModel::kCmyk);
  EXPECT_EQ(color_of(Color::kYcck), ColorModel::kYcck);
}

TEST(MarkersTest, ALengthBeyondTheFileIsRefused) {
  auto file = sample();
  file[find_marker(file, 0xdb) + 2] = 0xff;
  EXPECT_THAT(read_headers(file).error().message, HasSubstr("claims"));
}

TEST(MarkersTest, APictureLargerThanTheLimitIsRefused) {
  auto file = sample();
  const std::size_t frame = find_marker(file, 0xc0);
  file[frame + 7] = file[frame + 8] = 0xff;
  EXPECT_THAT(read_headers(file).error().message, HasSubstr("a picture of 65535 x 17 pixels"));
}

TEST(MarkersTest, AScanWhoseComponentsAreNotInTheFramesOrderIsRefused) {
  auto file = sample();
  const std::size_t scan = find_marker(file, 0xda);
  std::swap(file[scan + 5], file[scan + 7]);
  EXPECT_THAT(read_headers(file).error().message, HasSubstr("SOS"));
}

TEST(MarkersTest, ARestartMarkerBetweenSegmentsIsPassedOver) {
  auto file = sample();
  const std::uint8_t restart[] = {0xff, 0xd3};
  file.insert(file.begin() + 2, std::begin(restart), std::end(restart));
  EXPECT_TRUE(read_headers(file));
}

TEST(MarkersTest, ArithmeticConditioningThatLibjpegTurboRefusesIsRefused) {
  const auto with = [](std::uint8_t table, std::uint8_t value) {
    auto file = sample();
    const std::uint8_t segment[] = {0xff, 0xcc, 0, 4, table, value};
    file.insert(file.begin() + 2, std::begin(segment), std::end(segment));
    return read_headers(file).has_value();
  };
  EXPECT_TRUE(with(0, 0x10));
  EXPECT_FALSE(with(0, 0x01));
  EXPECT_FALSE(with(32, 0x10));
}

TEST(MarkersTest, WalksFromScanToScan) {
  const auto file = testing::encode({.separate_scans = true});
  auto headers = read_headers(file);
  ASSERT_TRUE(headers);
  for (int scan = 1; scan < 3; ++scan) {
    std::size_t end = headers->scan.data;
    while (file[end] != 0xff || file[end + 1] == 0) ++end;
    EXPECT_TRUE(next_scan(file, end, *headers).value());
    EXPECT_EQ(headers->scan.component[0], scan);
  }
  EXPECT_FALSE(next_scan(file, file.size() - 2, *headers).value());
}

}  // namespace
}  // namespace fullbore::jpeg
