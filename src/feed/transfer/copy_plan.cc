#include "feed/transfer/copy_plan.h"

#include <algorithm>
#include <cstring>

namespace fullbore::feed {

std::size_t plan_chunks(std::span<const CopyRequest> requests, std::size_t slot_bytes,
                        const std::function<bool(const void*)>& pinned, std::vector<Chunk>& chunks) {
  chunks.clear();
  std::size_t pageable = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const CopyRequest& request = requests[i];
    if (request.bytes == 0) continue;
    if (request.pack != 0) {
      pageable += pinned(request.source) ? 0 : request.bytes;
      const bool goes_on = !chunks.empty() && requests[chunks.back().first].pack == request.pack;
      if (!goes_on) chunks.push_back({.first = i, .count = 0, .destination = request.destination});
      Chunk& chunk = chunks.back();
      chunk.count = i + 1 - chunk.first;
      chunk.bytes = request.destination + request.bytes - chunk.destination;
    } else if (pinned(request.source)) {
      chunks.push_back({.first = i, .destination = request.destination, .bytes = request.bytes, .staged = false});
    } else {
      pageable += request.bytes;
      for (std::size_t offset = 0; offset < request.bytes; offset += slot_bytes) {
        const std::size_t bytes = std::min(slot_bytes, request.bytes - offset);
        chunks.push_back({.first = i, .offset = offset, .destination = request.destination + offset, .bytes = bytes});
      }
    }
  }
  return pageable;
}

void stage(std::span<const CopyRequest> requests, const Chunk& chunk, std::byte* slot) {
  if (chunk.count == 1) {
    std::memcpy(slot, requests[chunk.first].source + chunk.offset, chunk.bytes);
    return;
  }
  for (const CopyRequest& request : requests.subspan(chunk.first, chunk.count)) {
    if (request.bytes > 0) std::memcpy(slot + (request.destination - chunk.destination), request.source, request.bytes);
  }
}

}  // namespace fullbore::feed
