// Moves batches from the host to one device on a stream of its own, while the training thread and the device do other
// things. Nothing here synchronises in the training thread, and in steady state nothing is allocated.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "feed/transfer/copy_plan.h"
#include "feed/transfer/slot_ring.h"
#include "feed/transfer/transfer.h"

namespace fullbore::feed {

struct TransferOptions {
  // 4 MiB reach 96 % of the link's rate on a Gen5 link; sixteen hold about 1 ms of bus time.
  std::size_t slot_bytes = 4u << 20;
  int slots = 16;
  int threads = 2;
};

// What one batch took. Durations of the host by the monotonic clock, h2d by the device's own.
struct TransferTimes {
  std::size_t bytes = 0;
  std::size_t pageable_bytes = 0;
  double stage_ms = 0;      // from the first byte staged to the last
  double slot_wait_ms = 0;  // staging threads waiting for a free slot, summed
  double queue_ms = 0;      // from the copies being queued on the device to hand_over()
  double h2d_ms = 0;        // from the first copy's begin to the last one's end; pageable: with the gaps of staging
};

// One per loader and device. submit() and hand_over() may be called from different threads.
class TransferEngine {
 public:
  // Reserves the slots and starts the threads. `stream` belongs to the caller and outlives the engine.
  static base::Expected<std::unique_ptr<TransferEngine>> start(std::shared_ptr<const gpu::Device> device,
                                                               gpu::StreamHandle stream, TransferOptions options);
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;
  // Ends after the copies under way; those not begun are dropped. In a forked child it leaves everything as it is.
  ~TransferEngine();

  int slots() const { return ring_->slots(); }
  const std::string& shortfall() const { return ring_->shortfall(); }

  // Queues the copies of one batch; never blocks. What needs no staging to speak of is given to the device right here,
  // because waking a thread costs more than the call. Sources must stay until sources_free(), destinations until
  // finish() or, given memory that is freed in the order of streams, until hand_over(). Fails only without events.
  base::Expected<Transfer*> submit(std::span<const CopyRequest> requests);
  // Makes what `consumer` is given from now on run after the batch's copies. Blocks the host only until these are
  // queued on the device, not until they ran. The error of a copy is raised here.
  base::Expected<void> hand_over(Transfer& transfer, gpu::StreamHandle consumer);
  // Blocks until the sources are not read any more.
  base::Expected<void> wait_for_sources(Transfer& transfer);
  // True once all copies are complete; never blocks.
  base::Expected<bool> done(Transfer& transfer);
  // Blocks until all copies are complete.
  base::Expected<void> wait(Transfer& transfer);
  // What it took; empty until done.
  base::Expected<std::optional<TransferTimes>> times(Transfer& transfer);
  // Gives the transfer back. Copies that were not begun are dropped, those under way waited for.
  void release(Transfer* transfer);

 private:
  TransferEngine(std::shared_ptr<const gpu::Device> device, gpu::StreamHandle stream, std::unique_ptr<SlotRing> ring)
      : device_(std::move(device)), stream_(stream), ring_(std::move(ring)) {}

  base::Expected<Transfer*> prepare(std::span<const CopyRequest> requests);
  void copy_here(Transfer& transfer);
  void enqueue(Transfer& transfer);
  void work();
  std::optional<std::pair<Transfer*, Chunk>> next_chunk();
  base::Expected<void> copy(Transfer& transfer, const Chunk& chunk);
  base::Expected<void> copy_staged(Transfer& transfer, const Chunk& chunk, Slot* slot);
  base::Expected<void> send(Transfer& transfer, const Chunk& chunk, const std::byte* source);
  void finish_chunk(Transfer& transfer, base::Expected<void> copied);
  base::Expected<void> wait_until_queued(Transfer& transfer);

  std::shared_ptr<const gpu::Device> device_;
  gpu::StreamHandle stream_;
  std::unique_ptr<SlotRing> ring_;
  std::mutex mutex_;
  // Owned apart, so that a forked child can leave them: destroying one waits for the threads that wait in it.
  std::unique_ptr<std::condition_variable> work_ = std::make_unique<std::condition_variable>();  // a chunk, or the end
  std::unique_ptr<std::condition_variable> queued_ =
      std::make_unique<std::condition_variable>();  // a last chunk is sent
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> spare_;
  Transfer* first_ = nullptr;  // transfers with chunks that no thread has taken, in the order of submit()
  Transfer* last_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fullbore::feed
