// Who takes CUPTI out of the process again, and when: only whoever leaves a call of CUDA may, so the tracer's thread
// asks and a thread of the program, or the one that pauses, does it.
#pragma once

#include <atomic>
#include <cstdint>

namespace fullbore::inject {

// Any thread; nobody waits.
class Detachment {
 public:
  // From now on the first to take() it has to do it. Until done() nobody else calls CUPTI.
  void want() {
    took_ns_ = 0;
    state_.store(kWanted, std::memory_order_release);
  }
  bool take() {
    std::uint32_t expected = kWanted;
    return state_.compare_exchange_strong(expected, kTaken, std::memory_order_acq_rel);
  }
  // After take(): it took so long.
  void done(std::int64_t took_ns) {
    took_ns_ = took_ns;
    state_.store(kDone, std::memory_order_release);
  }
  bool is_done() const { return state_.load(std::memory_order_acquire) == kDone; }
  // Valid once it is done, or was taken by the caller.
  std::int64_t took_ns() const { return took_ns_; }

 private:
  enum State : std::uint32_t { kNotWanted, kWanted, kTaken, kDone };
  std::atomic<std::uint32_t> state_{kNotWanted};
  std::int64_t took_ns_ = 0;
};

}  // namespace fullbore::inject
