// How the copies of one batch are cut: large pageable tensors into pieces of a slot, so that the second piece is staged
// while the first is on the bus; small tensors together, because each copy costs about 5 us whatever its size; tensors
// in page-locked memory as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/cuda_driver.h"

namespace fullbore::feed {

struct CopyRequest {
  const std::byte* source = nullptr;
  gpu::DeviceAddress destination = 0;
  std::size_t bytes = 0;
  // 0: a copy of its own. Requests next to each other with the same other number lie in one device buffer, in this
  // order, and go there in one copy; the gaps between them are filled with anything. Together they must fit into a
  // slot.
  std::uint32_t pack = 0;
};

// One copy of the device. Staged: through a slot that holds requests [first, first + count), each from `offset` on.
struct Chunk {
  std::size_t first = 0;
  std::size_t count = 1;
  std::size_t offset = 0;
  gpu::DeviceAddress destination = 0;
  std::size_t bytes = 0;
  bool staged = true;
};

// Fills `chunks` (its memory is used again) and returns how many bytes come from pageable memory. Requests of no bytes
// make no chunk. `pinned` is asked once for each request.
std::size_t plan_chunks(std::span<const CopyRequest> requests, std::size_t slot_bytes,
                        const std::function<bool(const void*)>& pinned, std::vector<Chunk>& chunks);

// Copies what `chunk` holds into a slot of at least chunk.bytes.
void stage(std::span<const CopyRequest> requests, const Chunk& chunk, std::byte* slot);

}  // namespace fullbore::feed
