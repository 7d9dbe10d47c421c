// The threads that fill batches, one sample at a time, and the order in which finished batches come out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "feed/image/batch_slots.h"
#include "feed/image/index_place.h"
#include "feed/image/plan.h"
#include "feed/image/pool_report.h"
#include "feed/image/thread_tuner.h"

namespace fullbore::image {

// One pass at a time. Threads take the places of the batch begun last; the next one is begun when fewer than `depth`
// are under way or waiting and a slot is free. start(), stop(), wait() and next() are for one thread at a time.
class BatchPool {
 public:
  // `catalogue` and `plan` must outlive it.
  BatchPool(const Catalogue& catalogue, const Plan& plan, const LoaderOptions& options,
            std::shared_ptr<SlotStore> store, OpenedIndex index, int threads);
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;
  // After the samples under way.
  ~BatchPool();

  // Batches of the epoch after a pass are made ahead too; they are kept if that is what starts next.
  void start(std::uint64_t epoch, std::uint64_t first);
  void stop();
  // True when next() would not block.
  bool wait(std::chrono::milliseconds patience);
  // The next batch, which is the caller's until it gives it back to the store; null at the end. Fails when the caller
  // holds so many that none can be made.
  base::Expected<Slot*> next();

  const std::shared_ptr<SlotStore>& store() const { return store_; }
  CheckpointStore& checkpoints() { return checkpoints_; }
  int threads() const { return static_cast<int>(threads_.size()); }
  PoolReport report() const;

 private:
  struct Place {
    Slot* slot = nullptr;
    std::uint32_t index = 0;
    Plan::Epoch epoch;
  };

  void work(int number);
  std::optional<Place> take_place(int number, std::unique_lock<std::mutex>& lock);
  void hand_out(Slot& slot, std::int64_t asked_ns);
  bool begin_batch();
  void drop_all();
  void make(SampleMaker& maker, const Place& place);
  void finish_place(const Place& place, const SampleTimes& times, std::vector<PlacedFault> faults, bool filled);
  bool settled() const;

  const Catalogue& catalogue_;
  const Plan& plan_;
  const LoaderOptions options_;
  const std::size_t sample_bytes_;
  const std::shared_ptr<SlotStore> store_;
  ShardFiles shards_;
  CheckpointStore checkpoints_;

  // Under the store's mutex.
  std::condition_variable ready_;  // the oldest batch may be finished
  bool passing_ = false;           // from start() to the end of the pass
  std::uint64_t pass_epoch_ = 0;
  std::uint64_t handed_out_ = 0;       // batches of the pass
  std::int64_t waited_ns_ = 0;         // in wait(), for the batch that is next
  std::optional<Plan::Epoch> making_;  // of the batch begun last: that of the pass, or the one after it
  std::uint64_t next_batch_ = 0;       // to be begun, of making_
  std::deque<Slot*> open_;             // begun and not handed out, in order
  std::int64_t held_up_ns_ = 0;        // since when the next one could not be begun; 0: it could
  bool stopping_ = false;
  std::condition_variable resting_;  // threads that the tuner does not need
  std::optional<ThreadTuner> tuner_;
  int working_ = 0;  // threads [0, working_) work
  PoolReport report_;

  std::vector<std::jthread> threads_;
};

}  // namespace fullbore::image
