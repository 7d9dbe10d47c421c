// How often the training loop has gone round: what the Python hook counts and the tracer of the GPU reads, both in the
// training process. Without it a trace window cannot know whether it has seen whole steps.
#pragma once

#include <atomic>
#include <cstdint>

namespace fullbore::wire {

// Since the process started. Raised under the interpreter's lock, read at any time by another thread; the two are not
// tied to each other.
struct LoopCounters {
  std::atomic<std::uint64_t> iterations;  // batches handed to the loop, or iterations that fullbore.step() told of
  std::atomic<std::uint64_t> steps;       // of optimisers
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(LoopCounters) == 16);

}  // namespace fullbore::wire
