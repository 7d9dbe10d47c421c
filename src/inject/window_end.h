// When a trace window has seen enough. A window that cuts its steps shows the busy part of a step and not the wait
// around it, so the jobs that wait longest would have no evidence at all.
#pragma once

#include <cstdint>

#include "wire/loop_counters.h"

namespace fullbore::inject {

// How far the training loop is, since the process started.
struct LoopCount {
  std::uint64_t iterations = 0;
  std::uint64_t steps = 0;

  // `counters` null: nobody counts.
  static LoopCount of(const wire::LoopCounters* counters) {
    if (counters == nullptr) return {};
    return {counters->iterations.load(std::memory_order_relaxed), counters->steps.load(std::memory_order_relaxed)};
  }
  constexpr bool any() const { return iterations > 0 || steps > 0; }
};

// Pure: told the time, owned by the tracer's thread.
class WindowEnd {
 public:
  static constexpr std::int64_t kShortest_ns = 250'000'000;
  // A loop that is slower than this is not waited for.
  static constexpr std::int64_t kLongest_ns = 20'000'000'000;
  // Three whole steps lie between them; first and last kernel may cut one off.
  static constexpr std::uint64_t kIterations = 4;
  // With so many there is no need to go on for kShortest_ns.
  static constexpr std::uint32_t kManyKernels = 4000;

  // A window begins that may hold so many kernels.
  constexpr void begin(std::int64_t now_ns, const LoopCount& count, std::uint32_t most_kernels) {
    begin_ns_ = now_ns;
    // Optimisers count where no batch was handed out since the last window began.
    has_iterations_ = count.iterations != at_begin_.iterations;
    at_begin_ = count;
    most_kernels_ = most_kernels;
    enough_ = false;
  }

  // `kernels`: seen so far in the window.
  constexpr bool is_reached(std::int64_t now_ns, const LoopCount& count, std::uint32_t kernels) {
    const std::int64_t elapsed_ns = now_ns - begin_ns_;
    if (kernels >= most_kernels_ || elapsed_ns >= kLongest_ns) return true;
    const bool long_enough = elapsed_ns >= kShortest_ns || kernels >= kManyKernels;
    return long_enough && (!count.any() || saw_whole_steps(count, kernels));
  }

  // Nothing to look for before this.
  constexpr std::int64_t earliest_ns() const { return begin_ns_ + kShortest_ns; }

 private:
  // Also of the step that the last of them begins a kernel is needed, or the wait before it would be cut off.
  constexpr bool saw_whole_steps(const LoopCount& count, std::uint32_t kernels) {
    const std::uint64_t batches = count.iterations - at_begin_.iterations;
    const std::uint64_t begun = has_iterations_ || batches > 0 ? batches : count.steps - at_begin_.steps;
    if (begun < kIterations) return false;
    if (!enough_) {
      enough_ = true;
      kernels_then_ = kernels;
    }
    return begun > kIterations || kernels > kernels_then_;
  }

  std::int64_t begin_ns_ = 0;
  LoopCount at_begin_;
  bool has_iterations_ = false;
  std::uint32_t most_kernels_ = 0;
  bool enough_ = false;
  std::uint32_t kernels_then_ = 0;  // when the last iteration needed had begun
};

}  // namespace fullbore::inject
