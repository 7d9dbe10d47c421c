// When the next trace window may begin. Every window costs the launching thread something, so the time between windows
// grows with what they cost: a job of few large kernels is looked at often, one of many tiny ones rarely.
#pragma once

#include <cstdint>

#include "inject/window_end.h"

namespace fullbore::inject {

// Pure: told the time, owned by the tracer's thread.
class WindowPlan {
 public:
  // Not inside the start of CUDA.
  static constexpr std::int64_t kFirst_ns = 500'000'000;
  // Where iterations are counted the credit is kept for those that are judged: the first ten are the least that warm-up
  // takes. A process in which none begins may be no training at all: a window every kLongestStart_ns.
  static constexpr std::uint64_t kWarmUp = 10;
  static constexpr std::int64_t kLongestWarmUp_ns = 30'000'000'000;
  static constexpr std::int64_t kLongestStart_ns = 10'000'000'000;
  static constexpr std::int64_t kShortestPause_ns = 750'000'000;
  static constexpr std::int64_t kLongestPause_ns = 120'000'000'000;
  // Of the launching threads' time; half of what watching may cost a step of 10 ms.
  static constexpr double kCostShare = 0.0025;
  // With their launch calls about 25 bytes each when deflated: 0.7 MB of the 2 MB per minute that a run folder may
  // take.
  static constexpr double kKernelsPerSecond = 500;
  // Of one window: four steps of 10,000 kernels. How many it may really hold is what the budget can pay for.
  static constexpr std::uint32_t kMostKernels = 40'000;
  // What a traced kernel with its launch call costs the launching thread; measured on an H200 with
  // bench/inject_states.py (state window_finalize).
  static constexpr std::int64_t kKernelCost_ns = 4'000;
  // Spent in advance, so that the first 20 iterations are seen even if they are costly: three windows of 2,000 tiny
  // kernels per step, or one of 10,000.
  static constexpr std::int64_t kCostCredit_ns = 150'000'000;
  static constexpr double kKernelCredit = 30'000;

  // `share` of the launching threads' time instead of kCostShare; more than 0.
  constexpr void set_share(double share) { share_ = share; }

  // What taking CUPTI out costs at most; what it takes beyond is waiting for the device, which works on meanwhile. On
  // an H200 three jobs whose host stood still for 0.1 to 0.35 s lost 15 to 18 ms, as the rest of the window explains.
  static constexpr std::int64_t kDetachCost_ns = 5'000'000;
  // Such a wait is a step out of the ordinary all the same: at most one part in so many of the time.
  static constexpr std::int64_t kRestPerWait = 20;

  // A window has ended; waits of the host and copies take as much room as kernels and are among these.
  constexpr void spent(std::int64_t now_ns, std::int64_t cost_ns, std::uint32_t kernels) {
    accrue(now_ns);
    cost_ns_ -= static_cast<double>(cost_ns);
    kernels_ -= kernels;
    const double for_cost = cost_ns_ < 0 ? -cost_ns_ / share_ : 0;
    const double for_room = kernels_ < 0 ? -kernels_ / kKernelsPerSecond * 1e9 : 0;
    double pause = for_cost > for_room ? for_cost : for_room;
    if (pause < static_cast<double>(kShortestPause_ns)) pause = static_cast<double>(kShortestPause_ns);
    if (pause > static_cast<double>(kLongestPause_ns)) pause = static_cast<double>(kLongestPause_ns);
    next_ns_ = now_ns + static_cast<std::int64_t>(pause);
  }
  // The host stood still for so long when the last window ended.
  constexpr void rest_after_wait(std::int64_t now_ns, std::int64_t waited_ns) {
    std::int64_t rest_ns = kRestPerWait * waited_ns;
    if (rest_ns > kLongestPause_ns) rest_ns = kLongestPause_ns;
    if (next_ns_ < now_ns + rest_ns) next_ns_ = now_ns + rest_ns;
  }
  // How many kernels a window that begins now may hold: the longest pause after it must pay for them.
  constexpr std::uint32_t most_kernels(std::int64_t now_ns) {
    accrue(now_ns);
    const double credit_ns = cost_ns_ > 0 ? cost_ns_ : 0;
    const double affordable =
        (credit_ns + share_ * static_cast<double>(kLongestPause_ns)) / static_cast<double>(kKernelCost_ns);
    if (affordable < WindowEnd::kManyKernels) return WindowEnd::kManyKernels;
    return affordable < kMostKernels ? static_cast<std::uint32_t>(affordable) : kMostKernels;
  }
  // Whether a window would be wasted on the start of a program whose iterations are counted.
  constexpr bool is_too_early(std::int64_t now_ns, const LoopCount& count) {
    if (share_ >= 1) return false;  // nothing is to be saved
    if (start_ns_ == 0) start_ns_ = now_ns;
    if (!count.any()) {
      const bool too_early = now_ns - start_ns_ < kLongestStart_ns;
      if (!too_early) start_ns_ = now_ns;
      return too_early;
    }
    if (loop_ns_ == 0) loop_ns_ = now_ns;
    return count.iterations < kWarmUp && count.steps < kWarmUp && now_ns - loop_ns_ < kLongestWarmUp_ns;
  }
  // Tracing is possible from here on, for the first time or again.
  constexpr void begin(std::int64_t now_ns, std::int64_t wait_ns) { next_ns_ = now_ns + wait_ns; }
  constexpr std::int64_t next_ns() const { return next_ns_; }

 private:
  constexpr void accrue(std::int64_t now_ns) {
    if (last_ns_ != 0 && now_ns > last_ns_) {
      const double elapsed = static_cast<double>(now_ns - last_ns_);
      cost_ns_ += elapsed * share_;
      kernels_ += elapsed * kKernelsPerSecond / 1e9;
    }
    if (cost_ns_ > static_cast<double>(kCostCredit_ns)) cost_ns_ = static_cast<double>(kCostCredit_ns);
    if (kernels_ > kKernelCredit) kernels_ = kKernelCredit;
    last_ns_ = now_ns;
  }

  double share_ = kCostShare;
  double cost_ns_ = static_cast<double>(kCostCredit_ns);
  double kernels_ = kKernelCredit;
  std::int64_t last_ns_ = 0;
  std::int64_t next_ns_ = 0;
  std::int64_t start_ns_ = 0;  // of waiting for the first iteration
  std::int64_t loop_ns_ = 0;   // an iteration had begun by then
};

}  // namespace fullbore::inject
