#include "inject/buffer_pool.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace fullbore::inject {
namespace {

constexpr auto always = [] { return true; };

TEST(BufferPoolTest, HandsOutEachBufferOnceAndThenNone) {
  BufferPool pool;
  ASSERT_TRUE(pool.allocate());
  std::vector<std::uint8_t*> buffers;
  for (std::size_t i = 0; i < BufferPool::kBuffers; ++i) buffers.push_back(pool.request(false));
  std::ranges::sort(buffers);
  EXPECT_EQ(std::ranges::adjacent_find(buffers), buffers.end());
  EXPECT_EQ(pool.request(false), nullptr);
  EXPECT_EQ(pool.refused(), 1u);
}

TEST(BufferPoolTest, AnOldLibraryGetsABufferWhoseRecordsAreThrownAway) {
  BufferPool pool;
  ASSERT_TRUE(pool.allocate());
  for (std::size_t i = 0; i < BufferPool::kBuffers; ++i) pool.request(true);
  std::uint8_t* buffer = pool.request(true);
  ASSERT_NE(buffer, nullptr);
  EXPECT_FALSE(pool.complete(buffer, 64));
}

TEST(BufferPoolTest, AFilledBufferIsSeenOnceAndThenFreeAgain) {
  BufferPool pool;
  ASSERT_TRUE(pool.allocate());
  std::uint8_t* buffer = pool.request(false);
  buffer[0] = 7;
  ASSERT_TRUE(pool.complete(buffer, 8));
  int seen = 0;
  pool.drain(always, [&](std::uint8_t* bytes, std::size_t valid) {
    ++seen;
    EXPECT_EQ(bytes[0], 7);
    EXPECT_EQ(valid, 8u);
  });
  pool.drain(always, [&](std::uint8_t*, std::size_t) { ++seen; });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(pool.request(false), buffer);
}

TEST(BufferPoolTest, WhatMayNotBeTakenYetIsKept) {
  BufferPool pool;
  ASSERT_TRUE(pool.allocate());
  pool.complete(pool.request(false), 8);
  pool.drain([] { return false; }, [](std::uint8_t*, std::size_t) { ADD_FAILURE() << "taken"; });
  EXPECT_FALSE(pool.is_idle());
  pool.drain(always, [](std::uint8_t*, std::size_t) {});
  EXPECT_TRUE(pool.is_idle());
}

TEST(BufferPoolTest, BuffersOfOthersAreNotTaken) {
  BufferPool pool;
  std::uint8_t other[64] = {};
  EXPECT_FALSE(pool.complete(other, 64));
  ASSERT_TRUE(pool.allocate());
  EXPECT_FALSE(pool.complete(other, 64));
  std::uint8_t* buffer = pool.request(false);
  EXPECT_FALSE(pool.complete(buffer + 8, 64));
}

TEST(BufferPoolTest, ThreadsThatLaunchNeverShareABuffer) {
  BufferPool pool;
  ASSERT_TRUE(pool.allocate());
  std::atomic<bool> mixed{false};
  {
    std::vector<std::jthread> threads;
    for (std::uint8_t id = 1; id <= 4; ++id) {
      threads.emplace_back([&, id] {
        for (int i = 0; i < 2000; ++i) {
          std::uint8_t* buffer = pool.request(false);
          if (buffer == nullptr) continue;
          std::fill_n(buffer, 64, id);
          if (!std::all_of(buffer, buffer + 64, [&](std::uint8_t byte) { return byte == id; })) mixed = true;
          pool.complete(buffer, 64);
        }
      });
    }
    for (int i = 0; i < 2000; ++i) pool.drain(always, [](std::uint8_t*, std::size_t) {});
  }
  EXPECT_FALSE(mixed);
}

}  // namespace
}  // namespace fullbore::inject
