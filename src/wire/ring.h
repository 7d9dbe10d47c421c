// A ring of records in a shared file: one thread of a watched process writes, the collector reads. When it is full the
// writer drops the record and counts it; it never waits, so training cannot be slowed by a collector that is dead.
// Freestanding, lock free; acquire/release on the two positions only (no fences, which TSan does not model).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "wire/records.h"

namespace fullbore::wire {

inline constexpr std::uint64_t kRingMagic = 0x31474e4952424c46ull;  // "FLBRING1"

// First page of the file; the data follow at kRingDataOffset. `head` and `tail` count bytes since the start and never
// wrap in practice (2^64); the position in the data area is the value modulo `capacity`.
struct RingHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t pid;
  std::uint32_t tid;
  std::int32_t rank;                  // kUnknown32 if the environment names none
  std::uint64_t process_start_ticks;  // field 22 of /proc/PID/stat: tells a reused pid
  std::uint64_t capacity;             // bytes of the data area, a power of two
  char thread_name[16];
  std::uint8_t pad0[64];
  std::atomic<std::uint64_t> head;     // written by the producer
  std::atomic<std::uint64_t> dropped;  // records lost because the ring was full; producer
  std::atomic<std::uint32_t> closed;   // producer's thread has ended
  std::uint8_t pad1[44];
  std::atomic<std::uint64_t> tail;  // written by the consumer
  std::atomic<std::uint32_t> stop;  // set by the consumer when the observation ends: the producer turns itself off
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
inline constexpr std::uint64_t kRingDataOffset = 4096;
static_assert(sizeof(RingHeader) <= kRingDataOffset);

// Writes into a mapped ring. Owned by one thread.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingHeader* header, unsigned char* data) : header_(header), data_(data) {}

  explicit operator bool() const { return header_ != nullptr; }
  bool stopped() const { return header_->stop.load(std::memory_order_relaxed) != 0; }

  // Copies `size` bytes (whole records, multiple of 8) in one piece: all of it becomes visible, or none and
  // `records` are counted as dropped.
  bool write(const void* bytes, std::uint64_t size, std::uint64_t records = 1) {
    const std::uint64_t head = header_->head.load(std::memory_order_relaxed);
    const std::uint64_t tail = header_->tail.load(std::memory_order_acquire);
    const std::uint64_t capacity = header_->capacity;
    if (size > capacity - (head - tail)) {
      header_->dropped.fetch_add(records, std::memory_order_relaxed);
      return false;
    }
    const std::uint64_t at = head & (capacity - 1);
    const std::uint64_t first = size < capacity - at ? size : capacity - at;
    std::memcpy(data_ + at, bytes, first);
    std::memcpy(data_, static_cast<const unsigned char*>(bytes) + first, size - first);
    header_->head.store(head + size, std::memory_order_release);
    return true;
  }

 private:
  RingHeader* header_ = nullptr;
  unsigned char* data_ = nullptr;
};

// Reads from a mapped ring. Owned by the collector's thread. The other side is not trusted: a position that makes no
// sense yields nothing.
class RingReader {
 public:
  RingReader(RingHeader* header, const unsigned char* data, std::uint64_t capacity)
      : header_(header), data_(data), capacity_(capacity) {}

  // Copies what is there, at most `room` bytes, and frees it. Returns the number of bytes.
  std::uint64_t read(void* out, std::uint64_t room) {
    const std::uint64_t tail = header_->tail.load(std::memory_order_relaxed);
    const std::uint64_t head = header_->head.load(std::memory_order_acquire);
    std::uint64_t size = head - tail;
    if (size > capacity_) return 0;
    if (size > room) size = room;
    const std::uint64_t at = tail & (capacity_ - 1);
    const std::uint64_t first = size < capacity_ - at ? size : capacity_ - at;
    std::memcpy(out, data_ + at, first);
    std::memcpy(static_cast<unsigned char*>(out) + first, data_, size - first);
    header_->tail.store(tail + size, std::memory_order_release);
    return size;
  }

  std::uint64_t dropped() const { return header_->dropped.load(std::memory_order_relaxed); }
  void stop() { header_->stop.store(1, std::memory_order_relaxed); }
  bool closed() const { return header_->closed.load(std::memory_order_acquire) != 0; }
  const RingHeader& header() const { return *header_; }

 private:
  RingHeader* header_;
  const unsigned char* data_;
  std::uint64_t capacity_;
};

}  // namespace fullbore::wire
