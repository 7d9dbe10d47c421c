#include "feed/image/thread_tuner.h"

#include <algorithm>
#include <cmath>

namespace fullbore::image {
namespace {

// A window in which the caller waits for more than this part of the time has too few threads.
constexpr double kWaitShare = 0.01;
// Threads beyond what the mean of a window needs: pictures differ, and a core may be taken for a while.
constexpr double kReserve = 1.3;

}  // namespace

void ThreadTuner::handed_out(double work_ms, std::int64_t asked_ns, double wait_ms) {
  if (in_window_ == kWindow) {
    // The first one has the start of everything in it.
    if (windows_++ > 0) judge(static_cast<double>(asked_ns - window_begin_ns_) / 1e6);
    in_window_ = 0;
  }
  if (in_window_ == 0) {
    window_begin_ns_ = asked_ns;
    work_ms_ = wait_ms_ = 0;
  }
  ++in_window_;
  ++batches_;
  work_ms_ += work_ms;
  wait_ms_ += wait_ms;
}

void ThreadTuner::judge(double span_ms) {
  if (wait_ms_ > kWaitShare * span_ms) {
    threads_ = std::min(most_, threads_ + std::max(1, threads_ / 4));
  } else if (!settled()) {
    // Without its waits the caller would have taken this long.
    const double needed = kReserve * work_ms_ / std::max(span_ms - wait_ms_, 1e-3);
    threads_ = std::min(threads_, std::max(1, static_cast<int>(std::ceil(needed))));
  }
}

}  // namespace fullbore::image
