// One batch on its way; kept and used again by the engine.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "feed/transfer/copy_plan.h"
#include "gpu/event.h"

namespace fullbore::feed {

class Transfer {
 private:
  friend class TransferEngine;
  Transfer(gpu::Event begin, gpu::Event end) : begin_(std::move(begin)), end_(std::move(end)) {}

  gpu::Event begin_;
  gpu::Event end_;

  // Set by submit(), then read only.
  std::vector<CopyRequest> requests_;
  std::vector<Chunk> chunks_;
  std::size_t bytes_ = 0;
  std::size_t pageable_bytes_ = 0;
  bool direct_ = false;  // a copy reads a source itself

  // Under the engine's mutex.
  Transfer* next_ = nullptr;
  std::size_t taken_ = 0;     // chunks that a thread took or that were dropped
  std::size_t unqueued_ = 0;  // chunks that are not on the stream yet
  std::optional<base::Error> error_;
  std::int64_t queued_ns_ = 0;
  std::int64_t handed_over_ns_ = 0;
  std::int64_t stage_begin_ns_ = 0;
  std::int64_t stage_end_ns_ = 0;
  std::int64_t slot_wait_ns_ = 0;

  std::mutex begin_mutex_;  // the begin is recorded once, before any copy
  bool begun_ = false;
};

}  // namespace fullbore::feed
