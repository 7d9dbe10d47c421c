#include "feed/image/index_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace fullbore::image {
namespace {

std::vector<IndexEntry> some_entries() {
  return {{1, 10, {1, 2, 3}}, {2, 20, {}}, {3, 30, {4, 5}}};
}

struct Walked {
  std::uint64_t end = 0;
  std::map<std::uint64_t, IndexRecord> records;  // by name
};

Walked walk(const std::vector<std::uint8_t>& file) {
  Walked walked;
  const auto read = [&](std::uint64_t offset, std::span<std::uint8_t> bytes) {
    if (offset > file.size() || bytes.size() > file.size() - offset) return false;
    std::memcpy(bytes.data(), file.data() + offset, bytes.size());
    return true;
  };
  walked.end = walk_index(read, 0, file.size(), [&](const IndexRecord& r) { walked.records[r.name] = r; });
  return walked;
}

TEST(IndexFormatTest, GivesBackTheRecordsOfEveryBlock) {
  auto file = make_index_block(some_entries());
  const std::size_t first = file.size();
  const auto second = make_index_block(std::vector<IndexEntry>{{4, 40, {9, 9, 9, 9}}});
  file.insert(file.end(), second.begin(), second.end());
  const Walked walked = walk(file);
  EXPECT_EQ(walked.end, file.size());
  ASSERT_EQ(walked.records.size(), 4u);
  const IndexRecord& third = walked.records.at(3);
  EXPECT_EQ(third.identity, 30u);
  ASSERT_EQ(third.bytes, 2u);
  EXPECT_EQ(file[third.offset], 4);
  EXPECT_EQ(walked.records.at(2).bytes, 0u);
  EXPECT_GT(walked.records.at(4).offset, first);
}

TEST(IndexFormatTest, ACutBlockIsNotThereAndThoseBeforeItAre) {
  const auto block = make_index_block(some_entries());
  auto file = block;
  file.insert(file.end(), block.begin(), block.end());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Walked walked = walk({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(walked.end, size < block.size() ? 0 : block.size()) << size;
  }
}

TEST(IndexFormatTest, ADamagedDirectoryIsNotBelieved) {
  const auto block = make_index_block(some_entries());
  for (std::size_t i = 0; i < 16 + 3 * 20; ++i) {
    auto damaged = block;
    damaged[i] ^= 16;
    EXPECT_TRUE(walk(damaged).records.empty()) << "byte " << i;
  }
}

TEST(IndexFormatTest, AHeadIsGoodOfAnotherVersionOrForeign) {
  auto head = make_index_head();
  EXPECT_EQ(judge_index_head(head), IndexHead::kGood);
  head[8] ^= 2;
  EXPECT_EQ(judge_index_head(head), IndexHead::kOther);
  EXPECT_EQ(judge_index_head(std::span(head).first(12)), IndexHead::kOther);
  head[0] = 'G';
  EXPECT_EQ(judge_index_head(head), IndexHead::kForeign);
}

TEST(IndexFormatTest, AnotherTimeSizeBeginningOrEndIsAnotherIdentity) {
  std::vector<std::uint8_t> file(100'000);
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  const auto identity = index_identity(file, 5);
  EXPECT_EQ(index_identity(file, 5), identity);
  EXPECT_NE(index_identity(file, 6), identity);
  EXPECT_NE(index_identity(std::span(file).first(99'999), 5), identity);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1023}, file.size() / 16 - 1, file.size() - 1}) {
    auto changed = file;
    changed[at] ^= 1;
    EXPECT_NE(index_identity(changed, 5), identity) << at;
  }
}

TEST(IndexFormatTest, EveryByteOfAShortFileCounts) {
  const std::vector<std::uint8_t> file(1500, 3);
  for (std::size_t at = 0; at < 1500; ++at) {
    auto changed = file;
    changed[at] ^= 1;
    EXPECT_NE(index_identity(changed, 5), index_identity(file, 5)) << at;
  }
}

}  // namespace
}  // namespace fullbore::image
