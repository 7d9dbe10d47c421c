// The buffers that CUPTI fills, all taken when tracing starts: the thread that launches kernels asks for them, so it
// must find one without waiting and without allocating. With none free it gets none and CUPTI counts the loss.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fullbore::inject {

// request() and complete() on any thread, without waiting; drain() on the tracer's thread alone.
class BufferPool {
 public:
  // 256 KiB hold about 1,200 kernels or 2,700 copies; a thread that launches holds one, and those filled wait for the
  // tracer at most one flush.
  static constexpr std::size_t kBufferBytes = 256u << 10;
  static constexpr std::size_t kBuffers = 32;

  // False if there is no memory. The pages are touched now, not under the launching thread.
  bool allocate();

  // A buffer; CUPTI zeroes it. None free: null, or with `never_null` one whose records are thrown away (before
  // CUDA 12.9 null can end the process).
  std::uint8_t* request(bool never_null);
  // `valid` bytes of it are records. False: not one of ours.
  bool complete(const std::uint8_t* buffer, std::size_t valid);

  // visit(buffer, valid bytes) for each filled buffer, which is free again afterwards, for as long as may_go_on().
  template <typename MayGoOn, typename Visit>
  void drain(MayGoOn may_go_on, Visit visit) {
    for (Buffer& buffer : buffers_) {
      if (buffer.state.load(std::memory_order_acquire) != kFilled) continue;
      if (!may_go_on()) return;
      visit(buffer.bytes, buffer.valid);
      release(buffer);
    }
  }

  // CUPTI has none, so all records that it began are complete, and none waits for drain().
  bool is_idle() const {
    for (const Buffer& buffer : buffers_) {
      if (buffer.state.load(std::memory_order_acquire) != kFree) return false;
    }
    return true;
  }
  // CUPTI is gone: what it still had is free again.
  void reclaim() {
    for (Buffer& buffer : buffers_) {
      std::uint32_t expected = kOut;
      buffer.state.compare_exchange_strong(expected, kFree, std::memory_order_acq_rel);
    }
  }

  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  enum State : std::uint32_t { kFree, kOut, kFilled };
  struct Buffer {
    std::atomic<std::uint32_t> state{kFree};
    std::uint8_t* bytes = nullptr;
    std::size_t valid = 0;
  };
  static void release(Buffer& buffer);
  std::uint8_t* discarded() const { return memory_ + kBuffers * kBufferBytes; }

  Buffer buffers_[kBuffers];
  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace fullbore::inject
