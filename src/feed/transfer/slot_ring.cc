#include "feed/transfer/slot_ring.h"

namespace fullbore::feed {

using base::Expected;

namespace {

constexpr int kFewestSlots = 2;  // one is filled while the other is on the bus

}  // namespace

Expected<std::unique_ptr<SlotRing>> SlotRing::reserve(const std::shared_ptr<const gpu::Device>& device,
                                                      std::size_t slot_bytes, int slots) {
  std::unique_ptr<SlotRing> ring(new SlotRing(slot_bytes));
  while (ring->slots() < slots) {
    auto buffer = gpu::PinnedBuffer::allocate(device, slot_bytes);
    if (!buffer) {
      ring->shortfall_ = buffer.error().message();
      break;
    }
    auto event = gpu::Event::create(device, gpu::EventUse::kOrder);
    if (!event) return std::unexpected(event.error());
    ring->slots_.emplace_back(new Slot(std::move(*buffer), std::move(*event)));
    ring->unheld_.push_back(ring->slots_.back().get());
  }
  if (ring->slots() < std::min(kFewestSlots, slots)) {
    return base::fail(ring->shortfall_ + "; page-locked memory counts against the memory limit of the container: " +
                      "raise it, or hold fewer loaders open at once (close() gives their memory back)");
  }
  return ring;
}

SlotRing::~SlotRing() {
  for (const auto& slot : slots_) static_cast<void>(slot->last_use_.wait());
}

Expected<Slot*> SlotRing::take() {
  Slot* slot = nullptr;
  {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [this] { return !unheld_.empty(); });
    slot = unheld_.front();
    unheld_.pop_front();
  }
  auto done = slot->last_use_.done();
  if (done && *done) return slot;
  if (auto waited = slot->last_use_.wait(); !waited) {
    const std::lock_guard lock(mutex_);
    unheld_.push_back(slot);
    return std::unexpected(waited.error());
  }
  return slot;
}

Slot* SlotRing::try_take() {
  const std::lock_guard lock(mutex_);
  if (unheld_.empty()) return nullptr;
  Slot* slot = unheld_.front();
  const auto done = slot->last_use_.done();
  if (!done || !*done) return nullptr;
  unheld_.pop_front();
  return slot;
}

Expected<void> SlotRing::give_back(Slot* slot, gpu::StreamHandle stream) {
  auto recorded = slot->last_use_.record(stream);
  const std::lock_guard lock(mutex_);
  unheld_.push_back(slot);
  given_back_.notify_one();
  return recorded;
}

}  // namespace fullbore::feed
