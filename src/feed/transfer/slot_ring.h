// The page-locked slots that everything goes through on its way to a device. Reserved once: locking memory later would
// stall the training thread, and during a graph capture end it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/event.h"
#include "gpu/pinned_buffer.h"

namespace fullbore::feed {

// A slot has one owner at a time. It is free when nobody holds it *and* the copy that read it last is complete.
class Slot {
 public:
  std::byte* data() const { return buffer_.bytes().data(); }

 private:
  friend class SlotRing;
  Slot(gpu::PinnedBuffer buffer, gpu::Event last_use) : buffer_(std::move(buffer)), last_use_(std::move(last_use)) {}

  gpu::PinnedBuffer buffer_;
  gpu::Event last_use_;
};

// Thread-safe. All slots must be given back before it goes; its destructor waits for their last copies.
class SlotRing {
 public:
  // Goes on with fewer slots, at least two, where memory cannot be locked for all: then shortfall() says why.
  static base::Expected<std::unique_ptr<SlotRing>> reserve(const std::shared_ptr<const gpu::Device>& device,
                                                           std::size_t slot_bytes, int slots);
  SlotRing(const SlotRing&) = delete;
  SlotRing& operator=(const SlotRing&) = delete;
  ~SlotRing();

  std::size_t slot_bytes() const { return slot_bytes_; }
  int slots() const { return static_cast<int>(slots_.size()); }
  const std::string& shortfall() const { return shortfall_; }

  // The slot that was used longest ago; blocks until it is free.
  base::Expected<Slot*> take();
  // The same, but null at once if it is not free.
  Slot* try_take();
  // Ends the holding of `slot`, which copies already queued on `stream` may still read.
  base::Expected<void> give_back(Slot* slot, gpu::StreamHandle stream);

 private:
  explicit SlotRing(std::size_t slot_bytes) : slot_bytes_(slot_bytes) {}

  std::size_t slot_bytes_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::string shortfall_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::deque<Slot*> unheld_;  // in the order of their last use
};

}  // namespace fullbore::feed
