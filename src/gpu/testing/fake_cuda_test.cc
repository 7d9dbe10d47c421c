#include "gpu/testing/fake_cuda.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "gpu/event.h"
#include "gpu/pinned_buffer.h"
#include "gpu/stream.h"

namespace fullbore::gpu {
namespace {

using testing::FakeCuda;

DeviceAddress address(void* memory) {
  return reinterpret_cast<DeviceAddress>(memory);
}

TEST(FakeCuda, APinnedSourceIsReadWhenTheStreamGetsThere) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 0);
  const auto buffer = *PinnedBuffer::allocate(device, 64);
  const StreamHandle stream = cuda.make_stream();
  char on_device = 0;
  cuda.hold(stream);
  buffer.bytes()[0] = std::byte{1};
  ASSERT_TRUE(copy_to_device(*device, address(&on_device), buffer.bytes().data(), 1, stream));
  buffer.bytes()[0] = std::byte{2};
  cuda.release(stream);
  cuda.run_until_idle();
  EXPECT_EQ(on_device, 2);
}

TEST(FakeCuda, APageableSourceIsReadAtTheCall) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 0);
  const StreamHandle stream = cuda.make_stream();
  char source = 1;
  char on_device = 0;
  cuda.hold(stream);
  ASSERT_TRUE(copy_to_device(*device, address(&on_device), &source, 1, stream));
  source = 2;
  cuda.release(stream);
  cuda.run_until_idle();
  EXPECT_EQ(on_device, 1);
}

TEST(FakeCuda, WithoutAWaitSomeSeedReadsTooEarlyAndWithOneNone) {
  for (const bool waits : {false, true}) {
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      FakeCuda cuda({.seed = seed});
      const auto device = *Device::open(cuda.api(), 0);
      const auto buffer = *PinnedBuffer::allocate(device, 1);
      buffer.bytes()[0] = std::byte{1};
      const auto copies = *Stream::create(device);
      const auto compute = *Stream::create(device);
      auto copied = *Event::create(device, EventUse::kOrder);
      char on_device = 0;
      int read = -1;
      ASSERT_TRUE(copy_to_device(*device, address(&on_device), buffer.bytes().data(), 1, copies.handle()));
      ASSERT_TRUE(copied.record(copies.handle()));
      if (waits) {
        ASSERT_TRUE(copied.make_wait(compute.handle()));
      }
      cuda.launch(compute.handle(), [&] { read = on_device; });
      cuda.run_until_idle();
      seen.insert(read);
    }
    EXPECT_EQ(seen, waits ? std::set<int>{1} : (std::set<int>{0, 1}));
  }
}

TEST(FakeCuda, AnEventIsNotDoneBeforeItsStream) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 0);
  const StreamHandle stream = cuda.make_stream();
  auto event = *Event::create(device, EventUse::kOrder);
  cuda.hold(stream);
  ASSERT_TRUE(event.record(stream));
  cuda.run_until_idle();
  EXPECT_FALSE(*event.done());
  cuda.release(stream);
  EXPECT_TRUE(event.wait());
  EXPECT_TRUE(*event.done());
}

TEST(Device, ADeviceThatIsNotThereIsNamedWithTheNumberThatAre) {
  FakeCuda cuda({.devices = 1});
  const auto device = Device::open(cuda.api(), 3);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message(),
            "there is no device cuda:3; this process sees 1 CUDA devices (CUDA_VISIBLE_DEVICES limits them)");
}

TEST(Device, AScopeGivesTheCallersContextBack) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 1);
  CUcontext before = nullptr;
  cuda.api().context_set_current(nullptr);
  {
    const ContextScope scope(*device);
    cuda.api().context_get_current(&before);
    EXPECT_NE(before, nullptr);
  }
  cuda.api().context_get_current(&before);
  EXPECT_EQ(before, nullptr);
}

TEST(PinnedBuffer, WhatCannotBeLockedIsNamedWithItsSize) {
  FakeCuda cuda({.most_pinned_bytes = 1u << 20});
  const auto device = *Device::open(cuda.api(), 0);
  const auto buffer = PinnedBuffer::allocate(device, 8u << 20);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().message(), "cannot lock 8 MiB of host memory: CUDA_ERROR_OUT_OF_MEMORY (as the test asked)");
}

TEST(PinnedBuffer, OnlyItsOwnMemoryCountsAsPinned) {
  FakeCuda cuda;
  const auto device = *Device::open(cuda.api(), 0);
  const auto buffer = *PinnedBuffer::allocate(device, 64);
  std::array<char, 64> pageable{};
  EXPECT_TRUE(is_pinned(*device, buffer.bytes().data() + 63));
  EXPECT_FALSE(is_pinned(*device, pageable.data()));
}

}  // namespace
}  // namespace fullbore::gpu
