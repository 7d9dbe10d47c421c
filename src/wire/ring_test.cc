#include "wire/ring.h"

#include <gmock/gmock.h>

#include <memory>
#include <thread>
#include <vector>

namespace fullbore::wire {
namespace {

// A ring in plain memory; the mapping is someone else's business.
struct Ring {
  explicit Ring(std::uint64_t capacity) : data(new unsigned char[capacity]) {
    header->magic = kRingMagic;
    header->capacity = capacity;
  }
  std::unique_ptr<RingHeader> header = std::make_unique<RingHeader>();
  std::unique_ptr<unsigned char[]> data;
  RingWriter writer() { return {header.get(), data.get()}; }
  RingReader reader() { return {header.get(), data.get(), header->capacity}; }
};

TEST(RingTest, HandsOverWhatWasWritten) {
  Ring ring(64);
  const std::uint64_t in[2] = {7, 9};
  EXPECT_TRUE(ring.writer().write(in, sizeof in));
  std::uint64_t out[8] = {};
  EXPECT_EQ(ring.reader().read(out, sizeof out), sizeof in);
  EXPECT_EQ(out[0], 7u);
  EXPECT_EQ(out[1], 9u);
  EXPECT_EQ(ring.reader().read(out, sizeof out), 0u);
}

TEST(RingTest, DropsAndCountsWhenFullAndKeepsWhatIsThere) {
  Ring ring(64);
  const std::uint64_t in[5] = {1, 2, 3, 4, 5};
  EXPECT_TRUE(ring.writer().write(in, sizeof in));
  EXPECT_FALSE(ring.writer().write(in, sizeof in, 3));
  EXPECT_EQ(ring.reader().dropped(), 3u);
  std::uint64_t out[8] = {};
  EXPECT_EQ(ring.reader().read(out, sizeof out), sizeof in);
  EXPECT_EQ(out[4], 5u);
}

TEST(RingTest, WrapsAroundItsEnd) {
  Ring ring(64);
  RingWriter writer = ring.writer();
  RingReader reader = ring.reader();
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t in[5] = {i, i + 1, i + 2, i + 3, i + 4};
    ASSERT_TRUE(writer.write(in, sizeof in));
    std::uint64_t out[5] = {};
    ASSERT_EQ(reader.read(out, sizeof out), sizeof out);
    ASSERT_EQ(out[0], i);
    ASSERT_EQ(out[4], i + 4);
  }
}

TEST(RingTest, YieldsNothingWhenTheOtherSideWroteNonsense) {
  Ring ring(64);
  ring.header->head.store(1u << 20);
  std::uint64_t out[8] = {};
  EXPECT_EQ(ring.reader().read(out, sizeof out), 0u);
}

TEST(RingTest, OneWriterOneReaderLoseNothingTheyDidNotCount) {
  Ring ring(1024);
  constexpr std::uint64_t kRecords = 200'000;
  std::jthread producer([&] {
    RingWriter writer = ring.writer();
    for (std::uint64_t i = 1; i <= kRecords; ++i) {
      const std::uint64_t record[3] = {i, i * 3, i ^ 0x5555};
      writer.write(record, sizeof record);
    }
    ring.header->closed.store(1, std::memory_order_release);
  });
  RingReader reader = ring.reader();
  std::vector<std::uint64_t> out(128);
  std::uint64_t seen = 0;
  std::uint64_t last = 0;
  bool closed = false;
  while (true) {
    closed = reader.closed();
    const std::uint64_t words = reader.read(out.data(), 1024) / 8;
    ASSERT_EQ(words % 3, 0u);
    for (std::uint64_t w = 0; w < words; w += 3) {
      ASSERT_GT(out[w], last);
      ASSERT_EQ(out[w + 1], out[w] * 3);
      ASSERT_EQ(out[w + 2], out[w] ^ 0x5555);
      last = out[w];
      ++seen;
    }
    if (closed && words == 0) break;
  }
  EXPECT_EQ(seen + reader.dropped(), kRecords);
}

}  // namespace
}  // namespace fullbore::wire
