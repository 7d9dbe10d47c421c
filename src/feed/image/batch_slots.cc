#include "feed/image/batch_slots.h"

#include <algorithm>
#include <new>

namespace fullbore::image {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

Slot::Slot(std::size_t most_samples, std::size_t its_labels, std::size_t bytes)
    : memory(static_cast<std::byte*>(::operator new[](bytes, kAlignment))),
      labels_of_each(its_labels),
      labels(most_samples * its_labels),
      ids(most_samples) {}

void Slot::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, kAlignment);
}

SlotStore::SlotStore(std::size_t samples, std::size_t labels, std::size_t bytes, std::size_t memory_limit)
    : samples_(samples), labels_(labels), bytes_(bytes), most_(std::max<std::size_t>(memory_limit / bytes, 2)) {}

Slot* SlotStore::take() {
  if (free_.empty()) {
    if (all_.size() == most_) return nullptr;
    all_.push_back(std::make_unique<Slot>(samples_, labels_, bytes_));
    free_.reserve(all_.size());  // giving back never allocates
    free_.push_back(all_.back().get());
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
