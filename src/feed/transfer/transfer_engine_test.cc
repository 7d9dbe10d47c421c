#include "feed/transfer/transfer_engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <numeric>

#include "gpu/stream.h"
#include "gpu/testing/fake_cuda.h"

namespace fullbore::feed {
namespace {

using gpu::testing::FakeCuda;
using Bytes = std::vector<std::byte>;

constexpr TransferOptions kSmall{.slot_bytes = 64, .slots = 3, .threads = 2};

Bytes filled(std::size_t size, int with) {
  return Bytes(size, std::byte(with));
}

CopyRequest request(const Bytes& source, Bytes& destination) {
  return {source.data(), reinterpret_cast<gpu::DeviceAddress>(destination.data()), source.size()};
}

// An engine on a fake device, and a stream of the training thread.
struct Fixture {
  explicit Fixture(gpu::testing::FakeCudaOptions fake = {}, TransferOptions options = kSmall) : cuda(fake) {
    device = *gpu::Device::open(cuda.api(), 0);
    copies = cuda.make_stream();
    compute = cuda.make_stream();
    engine = *TransferEngine::start(device, copies, options);
  }
  Transfer& submit(std::vector<CopyRequest> requests) { return **engine->submit(requests); }

  FakeCuda cuda;
  std::shared_ptr<const gpu::Device> device;
  gpu::StreamHandle copies = nullptr;
  gpu::StreamHandle compute = nullptr;
  std::unique_ptr<TransferEngine> engine;
};

TEST(TransferEngine, TheConsumersStreamReadsWholeBatchesInAnyOrderThatEventsAllow) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Fixture f({.seed = seed});
    std::vector<Bytes> sources, destinations(12, filled(200, 0));
    for (int i = 0; i < 12; ++i) sources.push_back(filled(200, i + 1));
    std::vector<bool> right(12);
    for (std::size_t i = 0; i < 12; ++i) {
      Transfer& transfer = f.submit({request(sources[i], destinations[i])});
      ASSERT_TRUE(f.engine->hand_over(transfer, f.compute));
      f.cuda.launch(f.compute, [&, i] { right[i] = destinations[i] == sources[i]; });
      f.engine->release(&transfer);
    }
    f.cuda.run_until_idle();
    EXPECT_EQ(right, std::vector<bool>(12, true)) << "seed " << seed;
  }
}

TEST(TransferEngine, ASlotIsNotRefilledBeforeItsCopyRan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fixture f({.seed = seed});
    f.cuda.hold(f.copies);  // as behind a kernel that spins
    std::vector<Bytes> sources, destinations(8, filled(150, 0));
    std::vector<Transfer*> transfers;
    for (int i = 0; i < 8; ++i) sources.push_back(filled(150, i + 1));
    for (std::size_t i = 0; i < 8; ++i) transfers.push_back(&f.submit({request(sources[i], destinations[i])}));
    std::this_thread::yield();
    f.cuda.release(f.copies);
    for (Transfer* transfer : transfers) ASSERT_TRUE(f.engine->wait(*transfer));
    EXPECT_EQ(destinations, sources) << "seed " << seed;
    for (Transfer* transfer : transfers) f.engine->release(transfer);
  }
}

TEST(TransferEngine, PinnedSourcesArriveUnstagedAndSmallOnesTogether) {
  Fixture f;
  const auto pinned = *gpu::PinnedBuffer::allocate(f.device, 300);
  std::memset(pinned.bytes().data(), 7, 300);
  Bytes a = filled(10, 1), b = filled(6, 2), large(300), small(40);
  const auto at = [&](std::size_t offset) { return reinterpret_cast<gpu::DeviceAddress>(small.data() + offset); };
  Transfer& transfer = f.submit({{pinned.bytes().data(), reinterpret_cast<gpu::DeviceAddress>(large.data()), 300},
                                 {a.data(), at(0), 10, 1},
                                 {b.data(), at(32), 6, 1}});
  ASSERT_TRUE(f.engine->wait(transfer));
  EXPECT_EQ(large, filled(300, 7));
  EXPECT_EQ(small[9], std::byte{1});
  EXPECT_EQ(small[32], std::byte{2});
  EXPECT_EQ(f.cuda.calls("copy_to_device_async"), 2);
  const auto times = *f.engine->times(transfer);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->bytes, 316u);
  EXPECT_EQ(times->pageable_bytes, 16u);
  f.engine->release(&transfer);
}

TEST(TransferEngine, TimesAreEmptyUntilTheCopyIsComplete) {
  Fixture f;
  f.cuda.hold(f.copies);
  const Bytes source = filled(50, 1);
  Bytes destination(50);
  Transfer& transfer = f.submit({request(source, destination)});
  ASSERT_TRUE(f.engine->hand_over(transfer, f.compute));
  EXPECT_FALSE(*f.engine->times(transfer));
  f.cuda.release(f.copies);
  ASSERT_TRUE(f.engine->wait(transfer));
  EXPECT_TRUE(*f.engine->times(transfer));
  f.engine->release(&transfer);
}

TEST(TransferEngine, APinnedSourceIsFreeOnlyAfterItsCopy) {
  Fixture f;
  const auto pinned = *gpu::PinnedBuffer::allocate(f.device, 300);
  std::memset(pinned.bytes().data(), 1, 300);
  Bytes destination(300);
  f.cuda.hold(f.copies);
  Transfer& transfer =
      f.submit({{pinned.bytes().data(), reinterpret_cast<gpu::DeviceAddress>(destination.data()), 300}});
  std::jthread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    f.cuda.release(f.copies);
  });
  ASSERT_TRUE(f.engine->wait_for_sources(transfer));
  std::memset(pinned.bytes().data(), 9, 300);
  EXPECT_EQ(destination, filled(300, 1));
  f.engine->release(&transfer);
}

TEST(TransferEngine, SteadyStateReservesAndSynchronisesNothingInTheCallersThread) {
  Fixture f;
  const Bytes source = filled(500, 1);
  Bytes destination(500);
  const auto one_batch = [&] {
    Transfer& transfer = f.submit({request(source, destination)});
    ASSERT_TRUE(f.engine->hand_over(transfer, f.compute));
    while (!*f.engine->done(transfer)) {
    }
    f.engine->release(&transfer);
  };
  one_batch();
  f.cuda.clear_calls();
  for (int i = 0; i < 100; ++i) one_batch();
  EXPECT_EQ(f.cuda.calls("host_alloc") + f.cuda.calls("event_create") + f.cuda.calls("stream_create"), 0);
  EXPECT_EQ(f.cuda.calls("event_synchronize", true), 0);
}

TEST(TransferEngine, WhatIsSmallOrPinnedIsGivenToTheDeviceByTheCallerUnlessItWouldWait) {
  Fixture f({}, {.slot_bytes = 2048, .slots = 3, .threads = 1});
  const Bytes source = filled(60, 4);
  std::vector<Bytes> destinations(5, Bytes(60));
  f.cuda.hold(f.copies);
  std::vector<Transfer*> transfers;
  for (Bytes& destination : destinations) transfers.push_back(&f.submit({request(source, destination)}));
  EXPECT_EQ(f.cuda.calls("copy_to_device_async", true), 3);  // as many as there are slots
  f.cuda.release(f.copies);
  for (Transfer* transfer : transfers) ASSERT_TRUE(f.engine->wait(*transfer));
  EXPECT_EQ(destinations, std::vector<Bytes>(5, source));
  for (Transfer* transfer : transfers) f.engine->release(transfer);
}

TEST(TransferEngine, AnotherThreadsGraphCaptureIsNotBroken) {
  Fixture f;
  f.cuda.begin_capture();
  std::vector<Bytes> sources(20, filled(150, 1)), destinations(20, filled(150, 0));
  std::vector<Transfer*> transfers;
  for (std::size_t i = 0; i < 20; ++i) transfers.push_back(&f.submit({request(sources[i], destinations[i])}));
  for (Transfer* transfer : transfers) ASSERT_TRUE(f.engine->wait(*transfer));
  for (Transfer* transfer : transfers) f.engine->release(transfer);
  EXPECT_EQ(f.cuda.capture_breaking_calls(), 0);
  f.cuda.end_capture();
}

TEST(TransferEngine, ItGoesOnWithFewerSlotsWhereMemoryCannotBeLocked) {
  Fixture f({.most_pinned_bytes = 130});
  EXPECT_EQ(f.engine->slots(), 2);
  EXPECT_NE(f.engine->shortfall().find("cannot lock"), std::string::npos);
  const Bytes source = filled(500, 3);
  Bytes destination(500);
  Transfer& transfer = f.submit({request(source, destination)});
  ASSERT_TRUE(f.engine->wait(transfer));
  EXPECT_EQ(destination, source);
  f.engine->release(&transfer);
}

TEST(TransferEngine, WithoutRoomForTwoSlotsTheErrorNamesTheWayOut) {
  FakeCuda cuda({.most_pinned_bytes = 64});
  const auto engine = TransferEngine::start(*gpu::Device::open(cuda.api(), 0), cuda.make_stream(), kSmall);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message().find("memory limit of the container"), std::string::npos);
  EXPECT_EQ(cuda.pinned_bytes(), 0u);
}

TEST(TransferEngine, AnErrorOfACopyIsRaisedAtHandOver) {
  Fixture f;
  f.cuda.fail("copy_to_device_async", CUDA_ERROR_ILLEGAL_ADDRESS, 1);
  const Bytes source = filled(60, 3);
  Bytes good(60), bad(60);
  Transfer& first = f.submit({request(source, good)});
  ASSERT_TRUE(f.engine->hand_over(first, f.compute));
  Transfer& second = f.submit({request(source, bad)});
  const auto handed_over = f.engine->hand_over(second, f.compute);
  ASSERT_FALSE(handed_over);
  EXPECT_NE(handed_over.error().message().find("cannot copy to the device"), std::string::npos);
  f.engine->release(&first);
  f.engine->release(&second);
}

TEST(TransferEngine, AForkedChildDropsTheEngineWithoutWaitingForThreadsItDoesNotHave) {
  Fixture f;
  const Bytes source = filled(150, 1);
  Bytes destination(150);
  Transfer& transfer = f.submit({request(source, destination)});
  ASSERT_TRUE(f.engine->wait(transfer));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    f.engine->release(&transfer);
    f.engine.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  f.engine->release(&transfer);
}

TEST(TransferEngine, AReleasedTransferReadsAndWritesNothingMore) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fixture f({.seed = seed});
    std::vector<Bytes> sources(6, filled(400, 1)), destinations(6, filled(400, 0));
    std::vector<Transfer*> transfers;
    for (std::size_t i = 0; i < 6; ++i) transfers.push_back(&f.submit({request(sources[i], destinations[i])}));
    for (std::size_t i : {3u, 5u, 0u, 4u, 1u, 2u}) {
      f.engine->release(transfers[i]);
      destinations[i] = filled(400, 8);
    }
    f.cuda.run_until_idle();
    EXPECT_EQ(destinations, std::vector<Bytes>(6, filled(400, 8))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fullbore::feed
