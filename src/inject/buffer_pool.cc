#include "inject/buffer_pool.h"

#include <sys/mman.h>

namespace fullbore::inject {

bool BufferPool::allocate() {
  if (memory_ != nullptr) return true;
  void* memory = mmap(nullptr, (kBuffers + 1) * kBufferBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::uint8_t*>(memory);
  for (std::size_t i = 0; i < kBuffers; ++i) buffers_[i].bytes = memory_ + i * kBufferBytes;
  return true;
}

std::uint8_t* BufferPool::request(bool never_null) {
  for (Buffer& buffer : buffers_) {
    std::uint32_t expected = kFree;
    if (buffer.bytes != nullptr && buffer.state.compare_exchange_strong(expected, kOut, std::memory_order_acquire)) {
      return buffer.bytes;
    }
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return never_null && memory_ != nullptr ? discarded() : nullptr;
}

bool BufferPool::complete(const std::uint8_t* bytes, std::size_t valid) {
  if (memory_ == nullptr || bytes < memory_ || bytes >= memory_ + kBuffers * kBufferBytes) return false;
  Buffer& buffer = buffers_[static_cast<std::size_t>(bytes - memory_) / kBufferBytes];
  if (buffer.bytes != bytes || buffer.state.load(std::memory_order_relaxed) != kOut) return false;
  buffer.valid = valid < kBufferBytes ? valid : kBufferBytes;
  buffer.state.store(kFilled, std::memory_order_release);
  return true;
}

void BufferPool::release(Buffer& buffer) {
  buffer.valid = 0;
  buffer.state.store(kFree, std::memory_order_release);
}

}  // namespace fullbore::inject
