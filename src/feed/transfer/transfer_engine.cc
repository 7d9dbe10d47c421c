#include "feed/transfer/transfer_engine.h"

#include <pthread.h>

#include <algorithm>

#include "base/clock.h"

namespace fullbore::feed {

using base::Expected;

namespace {

// What the calling thread of submit() stages itself, as a part of a slot: 128 KiB of 4 MiB, about 10 us.
constexpr std::size_t kPartStagedHere = 32;

double ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

}  // namespace

Expected<std::unique_ptr<TransferEngine>> TransferEngine::start(std::shared_ptr<const gpu::Device> device,
                                                                gpu::StreamHandle stream, TransferOptions options) {
  auto ring = SlotRing::reserve(device, options.slot_bytes, options.slots);
  if (!ring) return std::unexpected(ring.error());
  std::unique_ptr<TransferEngine> engine(new TransferEngine(std::move(device), stream, std::move(*ring)));
  for (int i = 0; i < options.threads; ++i) {
    engine->threads_.emplace_back([raw = engine.get()] { raw->work(); });
    ::pthread_setname_np(engine->threads_.back().native_handle(), "fullbore-copy");
  }
  return engine;
}

TransferEngine::~TransferEngine() {
  if (device_->forked()) {
    // The threads are the parent's, and so is what they wait in or may have locked: all of it is left as it is. Not
    // even detaching is safe, since the child may have used their stacks again.
    static_cast<void>(new std::vector<std::thread>(std::move(threads_)));
    static_cast<void>(work_.release());
    static_cast<void>(queued_.release());
    static_cast<void>(ring_.release());
    for (auto& transfer : transfers_) static_cast<void>(transfer.release());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_->notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

Expected<Transfer*> TransferEngine::submit(std::span<const CopyRequest> requests) {
  const gpu::ContextScope scope(*device_);
  auto transfer = prepare(requests);
  if (!transfer) return transfer;
  copy_here(**transfer);
  enqueue(**transfer);
  return transfer;
}

Expected<Transfer*> TransferEngine::prepare(std::span<const CopyRequest> requests) {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) {
    auto begin = gpu::Event::create(device_, gpu::EventUse::kTiming);
    auto end = gpu::Event::create(device_, gpu::EventUse::kTiming);
    if (!begin || !end) return std::unexpected(begin ? end.error() : begin.error());
    transfers_.emplace_back(new Transfer(std::move(*begin), std::move(*end)));
    spare_.push_back(transfers_.back().get());
  }
  Transfer& transfer = *spare_.back();
  spare_.pop_back();
  transfer.requests_.assign(requests.begin(), requests.end());
  const auto pinned = [this](const void* address) { return gpu::is_pinned(*device_, address); };
  transfer.pageable_bytes_ = plan_chunks(requests, ring_->slot_bytes(), pinned, transfer.chunks_);
  transfer.bytes_ = 0;
  for (const CopyRequest& request : requests) transfer.bytes_ += request.bytes;
  transfer.direct_ = std::ranges::any_of(transfer.chunks_, [](const Chunk& chunk) { return !chunk.staged; });
  transfer.next_ = nullptr;
  transfer.taken_ = 0;
  transfer.unqueued_ = transfer.chunks_.size();
  transfer.error_.reset();
  transfer.queued_ns_ = transfer.handed_over_ns_ = transfer.chunks_.empty() ? base::monotonic_ns() : 0;
  transfer.stage_begin_ns_ = transfer.stage_end_ns_ = transfer.slot_wait_ns_ = 0;
  transfer.begun_ = false;
  return &transfer;
}

void TransferEngine::copy_here(Transfer& transfer) {
  std::size_t staged = 0;
  for (const Chunk& chunk : transfer.chunks_) staged += chunk.staged ? chunk.bytes : 0;
  if (staged > ring_->slot_bytes() / kPartStagedHere) return;
  for (; transfer.taken_ < transfer.chunks_.size(); ++transfer.taken_) {
    const Chunk& chunk = transfer.chunks_[transfer.taken_];
    Slot* slot = chunk.staged ? ring_->try_take() : nullptr;
    if (chunk.staged && slot == nullptr) return;  // all are in use: a thread may wait, the caller may not
    finish_chunk(transfer, chunk.staged ? copy_staged(transfer, chunk, slot) : copy(transfer, chunk));
  }
}

void TransferEngine::enqueue(Transfer& transfer) {
  const std::size_t left = transfer.chunks_.size() - transfer.taken_;
  if (left == 0) return;
  {
    const std::lock_guard lock(mutex_);
    (first_ == nullptr ? first_ : last_->next_) = &transfer;
    last_ = &transfer;
  }
  for (std::size_t i = 0; i < std::min(left, threads_.size()); ++i) work_->notify_one();
}

void TransferEngine::work() {
  const Expected<void> entered = device_->enter_thread();
  while (auto taken = next_chunk()) {
    auto& [transfer, chunk] = *taken;
    finish_chunk(*transfer, entered ? copy(*transfer, chunk) : entered);
  }
}

std::optional<std::pair<Transfer*, Chunk>> TransferEngine::next_chunk() {
  std::unique_lock lock(mutex_);
  work_->wait(lock, [this] { return stopping_ || first_ != nullptr; });
  if (stopping_) return std::nullopt;
  Transfer* transfer = first_;
  const Chunk chunk = transfer->chunks_[transfer->taken_++];
  if (transfer->taken_ == transfer->chunks_.size()) {
    first_ = transfer->next_;
    if (first_ == nullptr) last_ = nullptr;
  }
  return std::pair(transfer, chunk);
}

Expected<void> TransferEngine::copy(Transfer& transfer, const Chunk& chunk) {
  if (!chunk.staged) return send(transfer, chunk, transfer.requests_[chunk.first].source);
  const std::int64_t asked = base::monotonic_ns();
  auto slot = ring_->take();
  if (!slot) return std::unexpected(slot.error());
  {
    const std::lock_guard lock(mutex_);
    transfer.slot_wait_ns_ += base::monotonic_ns() - asked;
  }
  return copy_staged(transfer, chunk, *slot);
}

Expected<void> TransferEngine::copy_staged(Transfer& transfer, const Chunk& chunk, Slot* slot) {
  const std::int64_t begin = base::monotonic_ns();
  stage(transfer.requests_, chunk, slot->data());
  const std::int64_t end = base::monotonic_ns();
  {
    const std::lock_guard lock(mutex_);
    if (transfer.stage_begin_ns_ == 0 || begin < transfer.stage_begin_ns_) transfer.stage_begin_ns_ = begin;
    transfer.stage_end_ns_ = std::max(transfer.stage_end_ns_, end);
  }
  auto sent = send(transfer, chunk, slot->data());
  auto given_back = ring_->give_back(slot, stream_);
  return sent ? given_back : sent;
}

Expected<void> TransferEngine::send(Transfer& transfer, const Chunk& chunk, const std::byte* source) {
  {
    const std::lock_guard lock(transfer.begin_mutex_);
    if (!transfer.begun_) {
      transfer.begun_ = true;
      if (auto recorded = transfer.begin_.record(stream_); !recorded) return recorded;
    }
  }
  return gpu::copy_to_device(*device_, chunk.destination, source, chunk.bytes, stream_);
}

void TransferEngine::finish_chunk(Transfer& transfer, Expected<void> copied) {
  const std::lock_guard lock(mutex_);
  if (!copied && !transfer.error_) transfer.error_ = copied.error();
  if (--transfer.unqueued_ > 0) return;
  if (auto recorded = transfer.end_.record(stream_); !recorded && !transfer.error_) transfer.error_ = recorded.error();
  transfer.queued_ns_ = base::monotonic_ns();
  queued_->notify_all();
}

Expected<void> TransferEngine::wait_until_queued(Transfer& transfer) {
  std::unique_lock lock(mutex_);
  queued_->wait(lock, [&] { return transfer.unqueued_ == 0; });
  if (transfer.error_) return std::unexpected(*transfer.error_);
  return {};
}

Expected<void> TransferEngine::hand_over(Transfer& transfer, gpu::StreamHandle consumer) {
  if (auto queued = wait_until_queued(transfer); !queued) return queued;
  {
    const std::lock_guard lock(mutex_);
    transfer.handed_over_ns_ = base::monotonic_ns();
  }
  if (transfer.chunks_.empty()) return {};
  const gpu::ContextScope scope(*device_);  // the default stream is that of the current context
  return transfer.end_.make_wait(consumer);
}

Expected<void> TransferEngine::wait_for_sources(Transfer& transfer) {
  const gpu::ContextScope scope(*device_);
  if (auto queued = wait_until_queued(transfer); !queued) return queued;
  if (!transfer.direct_) return {};
  if (auto done = transfer.end_.done(); done && *done) return {};
  return transfer.end_.wait();
}

Expected<bool> TransferEngine::done(Transfer& transfer) {
  const gpu::ContextScope scope(*device_);
  {
    const std::lock_guard lock(mutex_);
    if (transfer.unqueued_ > 0) return false;
    if (transfer.error_) return std::unexpected(*transfer.error_);
  }
  return transfer.chunks_.empty() ? Expected<bool>(true) : transfer.end_.done();
}

Expected<void> TransferEngine::wait(Transfer& transfer) {
  const gpu::ContextScope scope(*device_);
  if (auto queued = wait_until_queued(transfer); !queued) return queued;
  return transfer.chunks_.empty() ? Expected<void>() : transfer.end_.wait();
}

Expected<std::optional<TransferTimes>> TransferEngine::times(Transfer& transfer) {
  auto complete = done(transfer);
  if (!complete) return std::unexpected(complete.error());
  if (!*complete) return std::nullopt;
  TransferTimes times;
  const std::lock_guard lock(mutex_);
  times.bytes = transfer.bytes_;
  times.pageable_bytes = transfer.pageable_bytes_;
  times.stage_ms = ms(transfer.stage_end_ns_ - transfer.stage_begin_ns_);
  times.slot_wait_ms = ms(transfer.slot_wait_ns_);
  times.queue_ms = ms(std::max<std::int64_t>(0, transfer.handed_over_ns_ - transfer.queued_ns_));
  if (transfer.chunks_.empty()) return times;
  auto elapsed = gpu::Event::elapsed_ms(transfer.begin_, transfer.end_);
  if (!elapsed) return std::unexpected(elapsed.error());
  times.h2d_ms = *elapsed;
  return times;
}

void TransferEngine::release(Transfer* transfer) {
  if (device_->forked()) return;
  const gpu::ContextScope scope(*device_);
  {
    std::unique_lock lock(mutex_);
    // Chunks that no thread has taken are dropped; the transfer leaves the list wherever it stands in it.
    const std::size_t dropped = transfer->chunks_.size() - transfer->taken_;
    if (dropped > 0) {
      Transfer** link = &first_;
      Transfer* before = nullptr;
      for (; *link != transfer; link = &(*link)->next_) before = *link;
      *link = transfer->next_;
      if (last_ == transfer) last_ = before;
      transfer->taken_ += dropped;
      transfer->unqueued_ -= dropped;
    }
    queued_->wait(lock, [&] { return transfer->unqueued_ == 0; });
    // With chunks dropped the end may never have been recorded; recorded now, it is after all that was sent.
    if (dropped > 0) static_cast<void>(transfer->end_.record(stream_));
  }
  if (auto done = transfer->end_.done(); done && !*done) static_cast<void>(transfer->end_.wait());
  const std::lock_guard lock(mutex_);
  spare_.push_back(transfer);
}

}  // namespace fullbore::feed
