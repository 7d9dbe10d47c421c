#include "feed/jpeg/upsample.h"

#include <gmock/gmock.h>

#include <numeric>

namespace fullbore::jpeg {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kPad = 64;

// Samples in the middle of readable memory that must not matter.
class Row {
 public:
  explicit Row(std::initializer_list<std::uint8_t> samples) : bytes_(2 * kPad + samples.size(), 200) {
    std::copy(samples.begin(), samples.end(), bytes_.begin() + kPad);
  }
  const std::uint8_t* data() const { return bytes_.data() + kPad; }

 private:
  std::vector<std::uint8_t> bytes_;
};

std::vector<std::uint8_t> run(Upsampling kind, const SampleRow& row, std::size_t factor) {
  std::vector<std::uint8_t> out(row.count * factor + kPad);
  Upsampler().run(kind, row, factor, out.data());
  out.resize(row.count * factor);
  return out;
}

TEST(UpsampleTest, DoublesAcrossWithAQuarterOfEachNeighbour) {
  const Row row{10, 20, 40};
  const SampleRow whole{row.data(), row.data(), false, 3, true, true};
  EXPECT_THAT(run(Upsampling::kH2V1, whole, 2), ElementsAre(10, 13, 17, 25, 35, 40));
}

TEST(UpsampleTest, InsideThePictureTheNeighboursBehindTheStretchCount) {
  const Row row{10, 20, 40, 80};
  const SampleRow middle{row.data() + 1, row.data() + 1, false, 2, false, false};
  EXPECT_THAT(run(Upsampling::kH2V1, middle, 2), ElementsAre(17, 25, 35, 50));
}

TEST(UpsampleTest, DoublesDownWithABiasThatDependsOnTheSide) {
  const Row nearer{10, 20}, further{13, 22};
  EXPECT_THAT(run(Upsampling::kH1V2, {nearer.data(), further.data(), false, 2, true, true}, 1), ElementsAre(11, 20));
  EXPECT_THAT(run(Upsampling::kH1V2, {nearer.data(), further.data(), true, 2, true, true}, 1), ElementsAre(11, 21));
}

TEST(UpsampleTest, OtherFactorsRepeat) {
  const Row row{1, 2};
  EXPECT_THAT(run(Upsampling::kRepeat, {row.data(), row.data(), false, 2, true, true}, 3),
              ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(UpsampleTest, NarrowComponentsAreRepeatedAsLibjpegTurboDoes) {
  Frame frame;
  frame.max_h = frame.max_v = 2;
  Component chroma;
  chroma.width = 2;
  EXPECT_EQ(upsampling_of(frame, chroma), Upsampling::kRepeat);
  chroma.width = 3;
  EXPECT_EQ(upsampling_of(frame, chroma), Upsampling::kH2V2);
}

}  // namespace
}  // namespace fullbore::jpeg
