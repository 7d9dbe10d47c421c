// Checkpoints of JPEGs that were decoded before, within a budget of memory: with them a later epoch decodes only the
// part that its crop needs. Kept from the first decode of a file that is sound to its end, so a damaged one is met
// alike in every epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fullbore/jpeg.h"

namespace fullbore::image {

// Thread-safe. Once a sample's are kept they never change.
class CheckpointStore {
 public:
  CheckpointStore(std::uint64_t samples, std::size_t memory_limit);
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  ~CheckpointStore();

  // None if they are not kept, or of a file of another size.
  std::optional<jpeg::Checkpoints> find(std::uint64_t sample, std::size_t file_bytes) const;
  // Whether it is worth recording them.
  bool wants(std::uint64_t sample) const;
  void keep(std::uint64_t sample, std::size_t file_bytes, const jpeg::Checkpoints& checkpoints);
  std::size_t bytes() const { return used_.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    std::size_t file_bytes = 0;
    std::vector<std::uint8_t> serialised;
  };

  const std::size_t memory_limit_;
  std::atomic<std::size_t> used_ = 0;
  std::vector<std::atomic<const Kept*>> kept_;
};

}  // namespace fullbore::image
