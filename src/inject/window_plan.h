// When the next trace window may begin. Every window costs the launching thread something, so the time between windows
// grows with what they cost: a job of few large kernels is looked at often, one of many tiny ones rarely.
#pragma once

#include <cstdint>

namespace fullbore::inject {

// Pure: told the time, owned by the tracer's thread.
class WindowPlan {
 public:
  static constexpr std::int64_t kWindow_ns = 250'000'000;
  // Not inside the start of CUDA.
  static constexpr std::int64_t kFirst_ns = 500'000'000;
  static constexpr std::int64_t kShortestPause_ns = 750'000'000;
  static constexpr std::int64_t kLongestPause_ns = 60'000'000'000;
  // Of the launching threads' time; half of what watching may cost a step of 10 ms.
  static constexpr double kCostShare = 0.0025;
  // With their launch calls about 25 bytes each when deflated: 0.7 MB of the 2 MB per minute that a run folder may
  // take.
  static constexpr double kKernelsPerSecond = 500;
  // A window ends early with these: two steps of 2,000 kernels, and a quarter of a ring of 1 MiB.
  static constexpr std::uint32_t kMostKernels = 4000;
  // Spent in advance, so that the first 20 iterations are seen even if they are costly.
  static constexpr std::int64_t kCostCredit_ns = 100'000'000;
  static constexpr double kKernelCredit = 15'000;

  // `share` of the launching threads' time instead of kCostShare; more than 0.
  constexpr void set_share(double share) { share_ = share; }

  // A window has ended.
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
};

}  // namespace fullbore::inject
