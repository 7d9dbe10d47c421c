// How many of a pool's threads should work: as few as keep the caller from waiting. More of them fill a free slot in a
// burst on all cores, and the thread that launches kernels waits for one of these: a ResNet-18 on 16 cores got 99 % of
// its rate from 8 threads and 94 % from 14.
#pragma once

#include <cstdint>

namespace fullbore::image {

// Told of each batch that is handed out; belongs to whoever does that. Comes down from all threads in its first
// kSettling batches, by what the caller needs; after these it only goes up again, if the caller waits. So it cannot
// swing, and a caller that was slow at first does not starve later.
class ThreadTuner {
 public:
  static constexpr std::uint64_t kSettling = 200;
  static constexpr std::uint64_t kWindow = 20;  // batches that are judged together

  explicit ThreadTuner(int most) : most_(most), threads_(most) {}

  int threads() const { return threads_; }
  bool settled() const { return batches_ >= kSettling; }

  // A batch that threads worked on for `work_ms`, and that the caller asked for at `asked_ns` and got after `wait_ms`.
  void handed_out(double work_ms, std::int64_t asked_ns, double wait_ms);
  // The caller begins a pass: what it did since the last batch says nothing of its rate.
  void begin_pass() { in_window_ = 0; }

 private:
  void judge(double span_ms);

  const int most_;
  int threads_;
  std::uint64_t batches_ = 0;
  std::uint64_t in_window_ = 0;
  std::uint64_t windows_ = 0;
  std::int64_t window_begin_ns_ = 0;
  double work_ms_ = 0;  // of the window
  double wait_ms_ = 0;
};

}  // namespace fullbore::image
