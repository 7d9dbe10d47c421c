#include "feed/jpeg/huffman.h"

#include <gmock/gmock.h>

namespace fullbore::jpeg {
namespace {

// 0: one coefficient of 1 bit; 10: end of block; 110: run of two zeros, then 2 bits; 1110: sixteen zeros;
// 111100000000: 10 bits, too long for the window of values.
HuffmanSpec ac_spec() {
  HuffmanSpec spec;
  spec.counts = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1};
  spec.symbols = {0x01, 0x00, 0x22, 0xf0, 0x0a};
  return spec;
}

struct Entry {
  std::uint32_t length, advance, size;
  std::int8_t offset;
  std::int8_t values[4];
};

Entry lookup(const AcTable& table, std::uint32_t window) {
  const std::uint64_t e = table.lookup[window];
  const auto byte = [&](int i) { return static_cast<std::int8_t>(e >> (8 * i)); };
  return {static_cast<std::uint32_t>(e & 255),
          static_cast<std::uint32_t>(e >> 8 & 255),
          static_cast<std::uint32_t>(e >> 16 & 255),
          byte(3),
          {byte(4), byte(5), byte(6), byte(7)}};
}

TEST(HuffmanTest, AnEntryHoldsAllSymbolsUpToTheEndOfTheBlock) {
  HuffmanCache cache;
  const AcTable& table = **cache.ac(ac_spec());
  const Entry e = lookup(table, 0b01'00'00'01'10'0);  // +1, -1, -1, +1, end
  EXPECT_EQ(e.length, 10u);
  EXPECT_EQ(e.advance, 4 + AcTable::kEndOfBlock);
  EXPECT_THAT(e.values, ::testing::ElementsAre(1, -1, -1, 1));
}

TEST(HuffmanTest, TheLastValueMayLieBehindTheWindow) {
  HuffmanSpec spec = ac_spec();
  spec.symbols[2] = 0x05;  // 110: no zeros, then 5 bits
  HuffmanCache cache;
  const Entry e = lookup(**cache.ac(spec), 0b01'01'01'110'00);  // the first two of the 5 bits are visible
  EXPECT_EQ(e.length, 14u);
  EXPECT_EQ(e.advance, 4u);
  EXPECT_EQ(e.size, 5u);
  EXPECT_EQ(e.offset, -31);
}

TEST(HuffmanTest, AFifthValueIsFetchedFromTheBits) {
  HuffmanCache cache;
  const AcTable& table = **cache.ac(ac_spec());
  const Entry e = lookup(table, 0b01'01'00'110'10);  // +1, +1, -1, 0 0 2 and then a position without room
  EXPECT_EQ(e.length, 11u);
  EXPECT_EQ(e.advance, 6u);
  EXPECT_EQ(e.size, 2u);
  EXPECT_EQ(e.offset, 0);
}

TEST(HuffmanTest, ACodeLongerThanTheWindowEscapes) {
  HuffmanCache cache;
  const AcTable& table = **cache.ac(ac_spec());
  EXPECT_EQ(lookup(table, 0x780).advance, AcTable::kEscape);
  EXPECT_EQ(table.skip[0xf00], 22 | 1 << 8);  // there it fits, its value need not
}

TEST(HuffmanTest, NoEntryPassesMoreThanTheFlagsAllow) {
  HuffmanSpec spec;
  spec.counts = {1, 1};
  spec.symbols = {0xf0, 0x00};  // sixteen zeros in one bit
  HuffmanCache cache;
  const AcTable& table = **cache.ac(spec);
  for (const std::uint64_t e : table.lookup) EXPECT_LE((e >> 8 & 255) & ~192u, AcTable::kMaxAdvance);
  for (const std::uint16_t e : table.skip) EXPECT_LE((e >> 8) & ~192, static_cast<int>(AcTable::kMaxAdvance));
}

TEST(HuffmanTest, TablesThatCannotBeAreRefused) {
  HuffmanSpec crowded;
  crowded.counts = {3};
  HuffmanSpec large_dc;
  large_dc.counts = {1};
  large_dc.symbols = {16};
  HuffmanCache cache;
  EXPECT_FALSE(cache.ac(crowded));
  EXPECT_FALSE(cache.dc(large_dc));
}

TEST(HuffmanTest, TheSameDefinitionIsBuiltOnce) {
  HuffmanCache cache;
  const AcTable* first = *cache.ac(ac_spec());
  HuffmanSpec other = ac_spec();
  for (std::uint8_t i = 0; i < HuffmanCache::kKept - 1; ++i) {
    other.symbols[0] = static_cast<std::uint8_t>(0x11 + i);
    EXPECT_NE(*cache.ac(other), first);
  }
  EXPECT_EQ(*cache.ac(ac_spec()), first);
}

}  // namespace
}  // namespace fullbore::jpeg
