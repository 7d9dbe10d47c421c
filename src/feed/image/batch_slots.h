// The memory of batches, used again and again. A slot belongs to the pool while it is filled and to the caller while a
// handle on it lives; it is free when neither has it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "feed/image/sample_maker.h"
#include "fullbore/image_loader.h"

namespace fullbore::image {

// Of a bad sample and the place in the batch that it was met at.
struct PlacedFault {
  std::uint32_t place = 0;
  std::uint64_t sample = 0;
  SampleFault fault;
};

// How much a slot holds.
struct SlotShape {
  std::size_t samples = 0;
  std::size_t labels_of_each = 1;
  std::size_t pixel_bytes = 0;  // of all samples

  std::size_t labels_offset() const { return (pixel_bytes + 63) / 64 * 64; }
  std::size_t bytes() const { return labels_offset() + samples * labels_of_each * sizeof(std::int64_t); }
};

struct Slot {
  // `memory` has shape.bytes(): pixels, then labels.
  Slot(const SlotShape& shape, std::shared_ptr<std::byte> memory);

  std::shared_ptr<std::byte> memory;
  std::size_t labels_of_each;
  std::span<std::int64_t> labels;
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> replaced;
  std::vector<PlacedFault> faults;
  BatchTimes times;

  // Of the batch that it holds now. Under the mutex of the pool.
  std::uint64_t batch = 0;
  std::uint32_t samples = 0;
  std::uint32_t taken = 0;    // places that a thread took
  std::uint32_t unmade = 0;   // places that are not finished
  bool dropped = false;       // nobody waits for it any more
  bool unfilled = false;      // a place for which no good sample was found
  std::int64_t begin_ns = 0;  // first place taken
  std::int64_t ready_ns = 0;  // last place finished
};

// Shared by the pool and all handles, so that a batch outlives its loader. One mutex guards it, the pool and what they
// wait for: a slot that comes free is work for a thread.
class SlotStore {
 public:
  // On the heap, as many as `memory_limit` allows, each made when it is first needed; or in `options.memory`, all at
  // once.
  static base::Expected<std::shared_ptr<SlotStore>> make(const SlotShape& shape, const LoaderOptions& options);

  std::mutex& mutex() { return mutex_; }
  // Notified when a slot comes free; what else the threads wait for is the pool's.
  std::condition_variable& work() { return work_; }

  // Both under the mutex. take() is null when exhausted().
  Slot* take();
  void give_back(Slot* slot);
  // As many slots as memory allows are in use.
  bool exhausted() const { return free_.empty() && all_.size() == most_; }
  std::size_t most() const { return most_; }

 private:
  SlotStore(const SlotShape& shape, std::size_t most) : shape_(shape), most_(most) {}
  void add(std::shared_ptr<std::byte> memory);

  const SlotShape shape_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::vector<std::unique_ptr<Slot>> all_;
  std::vector<Slot*> free_;
};

}  // namespace fullbore::image
