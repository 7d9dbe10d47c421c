#include "feed/image/checkpoint_store.h"

namespace fullbore::image {

CheckpointStore::CheckpointStore(std::uint64_t samples, std::size_t memory_limit)
    : memory_limit_(memory_limit), kept_(memory_limit == 0 ? 0 : samples) {}

CheckpointStore::~CheckpointStore() {
  for (const auto& kept : kept_) delete kept.load(std::memory_order_relaxed);
}

std::optional<jpeg::Checkpoints> CheckpointStore::find(std::uint64_t sample, std::size_t file_bytes) const {
  const Kept* kept = kept_.empty() ? nullptr : kept_[sample].load(std::memory_order_acquire);
  if (kept == nullptr || kept->file_bytes != file_bytes) return std::nullopt;
  auto checkpoints = jpeg::Checkpoints::parse(kept->serialised);
  if (!checkpoints) return std::nullopt;
  return std::move(*checkpoints);
}

bool CheckpointStore::wants(std::uint64_t sample) const {
  return bytes() < memory_limit_ && kept_[sample].load(std::memory_order_relaxed) == nullptr;
}

void CheckpointStore::keep(std::uint64_t sample, std::size_t file_bytes, const jpeg::Checkpoints& checkpoints) {
  if (checkpoints.empty() || !wants(sample)) return;
  auto made = std::make_unique<Kept>(Kept{file_bytes, checkpoints.serialise()});
  const std::size_t bytes = sizeof(Kept) + made->serialised.capacity();
  const Kept* expected = nullptr;
  if (!kept_[sample].compare_exchange_strong(expected, made.get(), std::memory_order_release)) return;
  static_cast<void>(made.release());
  used_.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace fullbore::image
