#include "feed/transfer/copy_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace fullbore::feed {
namespace {

constexpr auto kPageable = [](const void*) { return false; };
constexpr auto kPinned = [](const void*) { return true; };

CopyRequest request(gpu::DeviceAddress destination, std::size_t bytes, std::uint32_t pack = 0) {
  static std::array<std::byte, 4096> source;
  return {.source = source.data(), .destination = destination, .bytes = bytes, .pack = pack};
}

TEST(CopyPlan, ALargePageableTensorIsCutIntoSlots) {
  std::vector<Chunk> chunks;
  const std::array requests{request(1000, 250)};
  EXPECT_EQ(plan_chunks(requests, 100, kPageable, chunks), 250u);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[2].offset, 200u);
  EXPECT_EQ(chunks[2].destination, 1200u);
  EXPECT_EQ(chunks[2].bytes, 50u);
}

TEST(CopyPlan, APinnedTensorGoesWholeAndUnstaged) {
  std::vector<Chunk> chunks;
  const std::array requests{request(1000, 250)};
  EXPECT_EQ(plan_chunks(requests, 100, kPinned, chunks), 0u);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].bytes, 250u);
  EXPECT_FALSE(chunks[0].staged);
}

TEST(CopyPlan, SmallTensorsGoTogetherWithTheGapsBetweenThem) {
  std::vector<Chunk> chunks;
  const std::array requests{request(0, 10, 1), request(64, 10, 1), request(1 << 20, 90), request(2 << 20, 5, 2)};
  plan_chunks(requests, 100, kPageable, chunks);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].count, 2u);
  EXPECT_EQ(chunks[0].bytes, 74u);
  EXPECT_EQ(chunks[2].first, 3u);
}

TEST(CopyPlan, TwoPacksNextToEachOtherStayTwoCopies) {
  std::vector<Chunk> chunks;
  const std::array requests{request(0, 10, 1), request(1000, 10, 2), request(1010, 10, 2)};
  plan_chunks(requests, 4096, kPageable, chunks);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].bytes, 10u);
  EXPECT_EQ(chunks[1].destination, 1000u);
  EXPECT_EQ(chunks[1].bytes, 20u);
}

TEST(CopyPlan, ATensorOfNoBytesMakesNoCopy) {
  std::vector<Chunk> chunks;
  const std::array requests{request(0, 0), request(0, 0, 1)};
  EXPECT_EQ(plan_chunks(requests, 100, kPageable, chunks), 0u);
  EXPECT_TRUE(chunks.empty());
}

TEST(CopyPlan, StagingPutsEachSmallTensorWhereItsDestinationLies) {
  const std::array<std::byte, 2> a{std::byte{1}, std::byte{2}};
  const std::array<std::byte, 1> b{std::byte{3}};
  const std::array requests{CopyRequest{a.data(), 100, 2, 1}, CopyRequest{b.data(), 104, 1, 1}};
  std::vector<Chunk> chunks;
  plan_chunks(requests, 64, kPageable, chunks);
  std::array<std::byte, 8> slot{};
  stage(requests, chunks.at(0), slot.data());
  EXPECT_EQ(slot[1], std::byte{2});
  EXPECT_EQ(slot[4], std::byte{3});
}

}  // namespace
}  // namespace fullbore::feed
