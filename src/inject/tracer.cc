#include "inject/tracer.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

namespace fullbore::inject {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kClockPeriod_ns = kSecond_ns / 2;
// How often an open window is looked at, which flushes: a window of tiny kernels fills in a few of the shorter rounds.
// Where few kernels run rounds grow. Between the longest two the buffers must hold all that a thread can launch, should
// it begin to: at 130,000 kernels per second (an H200's host at its fastest) 5.6 of their 8 MiB.
constexpr std::int64_t kShortestRound_ns = 25'000'000;
constexpr std::int64_t kLongestRound_ns = 200'000'000;
constexpr std::uint32_t kFewKernels = 100;
// How often a program that is starting is looked at, which calls nothing of CUPTI.
constexpr std::int64_t kStartingRound_ns = 100'000'000;
// Kernels that were launched in a window and have not ended this long after it are given up. The queue of a busy device
// holds about a thousand.
constexpr std::int64_t kDrain_ns = kSecond_ns;
// No kernel ran in the last window: the program is busy with something else.
constexpr std::int64_t kIdlePause_ns = 2 * kSecond_ns;
// torch may be imported after something else has begun to use CUDA.
constexpr int kAskedOften = 3;
constexpr std::uint32_t kNullBuffersAllowed = 27;  // cuptiGetVersion of CUDA 12.9
constexpr std::int64_t kRetry_ns = 10 * kSecond_ns;

timespec as_timespec(std::int64_t ns) {
  return {ns / kSecond_ns, ns % kSecond_ns};
}

std::int64_t thread_cpu_ns() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return cpu.tv_sec * kSecond_ns + cpu.tv_nsec;
}

std::int64_t sooner(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

}  // namespace

void Tracer::start(const TracerOptions& options, const Callbacks& callbacks) {
  options_ = options;
  callbacks_ = callbacks;
  snprintf(rings_, sizeof rings_, "%s", options.rings);
  std::uint32_t version = 0;
  if (options_.stay_out == nullptr) options_.stay_out = find_cupti(api_);
  if (options_.stay_out == nullptr) {
    api_.get_version(&version);
    options_.stay_out = Tracing::unusable(version);
  }
  if (options_.stay_out == nullptr && !pool_.allocate()) options_.stay_out = "no memory for trace buffers";
  driver_ = find_driver();
  parser_.set_version(version);
  never_null_ = version < kNullBuffersAllowed;
  plan_.set_share(options.cost_share);
  plan_.begin(monotonic_now_ns(), WindowPlan::kFirst_ns);
  started_ = start_thread();
}

// The program's signals are for its own threads.
bool Tracer::start_thread() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&wake_, &attributes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool made = pthread_create(&thread_, nullptr, thread_main, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

void* Tracer::thread_main(void* tracer) {
  prctl(PR_SET_NAME, "fullbore-gpu");
  static_cast<Tracer*>(tracer)->run();
  return nullptr;
}

void Tracer::run() {
  if (!output_.open(rings_, options_.ring_bytes, options_.rank)) options_.stay_out = "no room for a ring";
  if (options_.stay_out != nullptr) output_.missing("gpu.trace", options_.stay_out);
  // While a thread captures a graph, what CUPTI does on this one would spoil the capture in any stricter mode.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (driver_.capture_mode != nullptr) driver_.capture_mode(&mode);
  pthread_mutex_lock(&lock_);
  refused_ = options_.stay_out != nullptr;
  while (!refused_ && !stopping_ && !output_.stopped()) {
    const std::int64_t now_ns = monotonic_now_ns();
    round(now_ns);
    wait_until(next_round_ns(now_ns));
  }
  finish();
  pthread_mutex_unlock(&lock_);
  output_.close();
}

void Tracer::wait_until(std::int64_t time_ns) {
  const timespec until = as_timespec(time_ns);
  if (!stopping_) pthread_cond_timedwait(&wake_, &lock_, &until);
}

std::int64_t Tracer::next_round_ns(std::int64_t now_ns) const {
  if (phase_ == Phase::kWindow) return now_ns + round_ns_;
  if (phase_ != Phase::kIdle) return now_ns + kShortestRound_ns;
  return paused_ > 0 ? now_ns + kSecond_ns : sooner(now_ns + kSecond_ns, plan_.next_ns());
}

void Tracer::round(std::int64_t now_ns) {
  switch (phase_) {
    case Phase::kIdle:
      if (paused_ == 0 && now_ns >= plan_.next_ns()) open_if_allowed(now_ns);
      break;
    case Phase::kWindow:
      watch_window(now_ns);
      break;
    case Phase::kDraining:
      drain_window(now_ns);
      break;
    case Phase::kLeaving:
      if (detachment_.is_done()) window_is_over(detachment_.took_ns());
      break;
  }
}

// The tightest of a few brackets: a reading that was interrupted is wide.
void Tracer::pair_clocks(std::int64_t now_ns) {
  clock_due_ns_ = now_ns + kClockPeriod_ns;
  ClockPair best = {0, 0, INT64_MAX};
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::uint64_t device_ns = 0;
    const std::int64_t before_ns = monotonic_now_ns();
    if (api_.timestamp(&device_ns) != CUPTI_SUCCESS) return;
    const std::int64_t after_ns = monotonic_now_ns();
    const std::int64_t residual_ns = (after_ns - before_ns) / 2;
    if (residual_ns < best.residual_ns)
      best = {before_ns + residual_ns, static_cast<std::int64_t>(device_ns), residual_ns};
  }
  clock_.add(best);
  bool known = false;
  const std::int64_t drift_ns = clock_.last_drift_ns(known);
  output_.put(
      wire::ClockPairRecord{best.monotonic_ns, best.device_ns, best.residual_ns, known ? drift_ns : wire::kUnknown});
}

// While the ring has room, what the collector has yet to read may wait in the buffers.
void Tracer::take_buffers(Take take) {
  if (clock_.empty()) return;
  pool_.drain([&] { return take == Take::kAll || !output_.is_crowded(); },
              [this](std::uint8_t* buffer, std::size_t valid) { parser_.parse(buffer, valid); });
  const ActivityParser::Counts counts = parser_.take_counts();
  window_.kernels += counts.kernels;
  window_.calls += counts.calls;
  window_.waits += counts.waits;
  window_.copies += counts.copies;
  window_.lost += counts.lost;
  window_.cost_ns += counts.cost_ns;
}

void Tracer::open_if_allowed(std::int64_t now_ns) {
  if (!allowed_) {
    plan_.begin(now_ns, kIdlePause_ns);
    if (++asked_ == kAskedOften) output_.missing("gpu.trace", "nothing in this process sees CUDA graphs coming");
  } else if (is_counted() && plan_.is_too_early(now_ns, loop_count())) {
    plan_.begin(now_ns, kStartingRound_ns);
  } else if (output_.is_crowded()) {
    plan_.begin(now_ns, kIdlePause_ns);
  } else {
    open_window(now_ns);
  }
}

void Tracer::open_window(std::int64_t now_ns) {
  // Its own time: it also waits for what other threads are doing in the driver, which costs them nothing.
  const std::int64_t cpu_before_ns = thread_cpu_ns();
  const Tracing::Outcome outcome = tracing_.attach(callbacks_, shared_);
  if (outcome != Tracing::Outcome::kOk) {
    output_.missing("gpu.trace", tracing_.why());
    refused_ = outcome == Tracing::Outcome::kRefused;
    return plan_.begin(now_ns, kRetry_ns);
  }
  phase_ = Phase::kWindow;
  window_ = {};
  dropped_before_ = output_.dropped() + pool_.refused();
  window_begin_ns_ = monotonic_now_ns();
  attach_ns_ = thread_cpu_ns() - cpu_before_ns;
  end_.begin(window_begin_ns_, loop_count(), plan_.most_kernels(window_begin_ns_));
  round_ns_ = kShortestRound_ns;
  second_due_ns_ = window_begin_ns_ + kSecond_ns;
  pair_clocks(window_begin_ns_);
}

void Tracer::watch_window(std::int64_t now_ns) {
  if (now_ns >= clock_due_ns_) pair_clocks(now_ns);
  const std::uint32_t before = window_.kernels;
  const LoopCount count = loop_count();  // before the records, which then hold all kernels from before it
  tracing_.flush();
  take_buffers(Take::kWhatFits);
  if (now_ns >= second_due_ns_) {
    parser_.end_of_second();
    second_due_ns_ = now_ns + kSecond_ns;
  }
  choose_round(now_ns, window_.kernels - before);
  const bool many_waits = window_.waits >= WindowPlan::kMostKernels;
  if (end_.is_reached(now_ns, count, window_.kernels) || many_waits || output_.is_crowded()) close_window();
}

// After one that brought so many kernels.
void Tracer::choose_round(std::int64_t now_ns, std::uint32_t kernels) {
  round_ns_ = kernels < kFewKernels ? sooner(2 * round_ns_, kLongestRound_ns) : kShortestRound_ns;
  if (now_ns < end_.earliest_ns()) round_ns_ = sooner(round_ns_, end_.earliest_ns() - now_ns);
}

void Tracer::close_window() {
  window_end_ns_ = monotonic_now_ns();
  tracing_.close();
  pair_clocks(window_end_ns_);
  phase_ = Phase::kDraining;
  tracing_.flush();
  take_buffers(Take::kWhatFits);
}

// A buffer comes back when all of its records are complete.
void Tracer::drain_window(std::int64_t now_ns) {
  tracing_.flush();
  take_buffers(Take::kWhatFits);
  if (pool_.is_idle() || now_ns - window_end_ns_ > kDrain_ns) leave();
}

void Tracer::leave() {
  tracing_.end();
  take_buffers(Take::kAll);
  phase_ = Phase::kLeaving;
  detachment_.want();
  if (tracing_.await_exit(callbacks_.left)) return;
  shared_ = true;
  detachment_.take();
  window_is_over(0);
}

void Tracer::window_is_over(std::int64_t detach_ns) {
  phase_ = Phase::kIdle;
  pool_.reclaim();
  parser_.end_of_second();
  parser_.put_overheads();
  const std::uint64_t dropped = output_.dropped() + pool_.refused() - dropped_before_ + window_.lost;
  const std::int64_t left_ns = sooner(detach_ns, WindowPlan::kDetachCost_ns);
  const std::int64_t cost_ns = attach_ns_ + left_ns + window_.cost_ns + window_.kernels * WindowPlan::kKernelCost_ns;
  // Seen with CUPTI 13.0: attached after CUDA was initialised, it is asked for single calls and records none.
  const bool no_calls = window_.kernels > 0 && window_.calls == 0;
  if (no_calls) output_.missing("gpu.launch_calls", "this libcupti records no single calls when it is attached late");
  output_.put(wire::TraceWindowRecord{window_begin_ns_, window_end_ns_, cost_ns, thread_cpu_ns(), window_.kernels,
                                      window_.calls, static_cast<std::uint32_t>(dropped), 0,
                                      output_.name(no_calls ? "kernels_no_launch" : "kernels")});
  const std::int64_t now_ns = monotonic_now_ns();
  if (window_.kernels == 0) return plan_.begin(now_ns, kIdlePause_ns);
  plan_.spent(now_ns, cost_ns, window_.kernels + window_.waits + window_.copies);
  plan_.rest_after_wait(now_ns, detach_ns - left_ns);
}

// On whatever thread of the program, also while a graph is captured on it.
void Tracer::finalize_here() {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (driver_.capture_mode != nullptr) driver_.capture_mode(&mode);
  const std::int64_t begin_ns = monotonic_now_ns();
  tracing_.finalize();
  const std::int64_t took_ns = monotonic_now_ns() - begin_ns;
  if (driver_.capture_mode != nullptr) driver_.capture_mode(&mode);
  detachment_.done(took_ns);
}

void Tracer::leaving_cuda() {
  if (abandoned_.load(std::memory_order_relaxed) || !detachment_.take()) return;
  finalize_here();
}

// The program ends: CUPTI may stay, but nobody may begin to take it out.
void Tracer::finish() {
  if (phase_ == Phase::kWindow) close_window();
  if (phase_ == Phase::kDraining) {
    tracing_.end();
    take_buffers(Take::kAll);
    window_is_over(0);
  }
  if (phase_ == Phase::kLeaving && (detachment_.is_done() || detachment_.take())) window_is_over(detachment_.took_ns());
}

bool Tracer::lock_within(std::int64_t ns) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until = as_timespec(until.tv_sec * kSecond_ns + until.tv_nsec + ns);
  return pthread_mutex_timedlock(&lock_, &until) == 0;
}

// On a thread that is not inside CUDA; others seldom are when torch.profiler is prepared.
void Tracer::detach_now() {
  if (phase_ == Phase::kWindow) close_window();
  if (phase_ == Phase::kDraining) leave();
  if (phase_ != Phase::kLeaving) return;
  if (detachment_.take()) finalize_here();
  const std::int64_t end_ns = monotonic_now_ns() + kSecond_ns;
  while (!detachment_.is_done() && monotonic_now_ns() < end_ns) sched_yield();
  window_is_over(detachment_.took_ns());
}

void Tracer::allow() {
  if (abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns)) return;
  allowed_ = true;
  pthread_mutex_unlock(&lock_);
}

void Tracer::pause() {
  if (abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns)) return;
  ++paused_;
  detach_now();
  shared_ = true;
  if (started_) pthread_cond_signal(&wake_);
  pthread_mutex_unlock(&lock_);
}

void Tracer::resume() {
  if (abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns)) return;
  if (paused_ > 0) --paused_;
  if (paused_ == 0) plan_.begin(monotonic_now_ns(), WindowPlan::kShortestPause_ns);
  if (started_) pthread_cond_signal(&wake_);
  pthread_mutex_unlock(&lock_);
}

void Tracer::stop() {
  if (!started_ || abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns / 2)) return;
  stopping_ = true;
  pthread_cond_signal(&wake_);
  pthread_mutex_unlock(&lock_);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until = as_timespec(until.tv_sec * kSecond_ns + until.tv_nsec + kSecond_ns / 2);
  pthread_timedjoin_np(thread_, nullptr, &until);
  started_ = false;
}

}  // namespace fullbore::inject
