#include "feed/image/batch_slots.h"

#include <algorithm>
#include <memory>
#include <new>

namespace fullbore::image {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> heap_memory(std::size_t bytes) {
  const auto free = [](std::byte* memory) { ::operator delete[](memory, kAlignment); };
  return {static_cast<std::byte*>(::operator new[](bytes, kAlignment)), free};
}

}  // namespace

Slot::Slot(const SlotShape& shape, std::shared_ptr<std::byte> its_memory)
    : memory(std::move(its_memory)),
      labels_of_each(shape.labels_of_each),
      labels(reinterpret_cast<std::int64_t*>(memory.get() + shape.labels_offset()), shape.samples * labels_of_each),
      ids(shape.samples) {
  std::uninitialized_fill(labels.begin(), labels.end(), 0);
}

base::Expected<std::shared_ptr<SlotStore>> SlotStore::make(const SlotShape& shape, const LoaderOptions& options) {
  if (!options.memory) {
    const std::size_t most = std::max<std::size_t>(options.memory_limit / shape.pixel_bytes, 2);
    return std::shared_ptr<SlotStore>(new SlotStore(shape, most));
  }
  const std::size_t count = std::max<std::size_t>(options.memory->batches, 2);
  std::shared_ptr<SlotStore> store(new SlotStore(shape, count));
  for (std::size_t i = 0; i < count; ++i) {
    auto memory = options.memory->allocate(shape.bytes());
    if (!memory) return base::fail(memory.error().message);
    store->add(std::move(*memory));
  }
  return store;
}

void SlotStore::add(std::shared_ptr<std::byte> memory) {
  all_.push_back(std::make_unique<Slot>(shape_, std::move(memory)));
  free_.reserve(all_.size());  // giving back never allocates
  free_.push_back(all_.back().get());
}

Slot* SlotStore::take() {
  if (free_.empty()) {
    if (all_.size() == most_) return nullptr;
    add(heap_memory(shape_.bytes()));
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

void SlotStore::give_back(Slot* slot) {
  free_.push_back(slot);
  work_.notify_all();
}

}  // namespace fullbore::image
