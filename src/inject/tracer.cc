#include "inject/tracer.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

namespace fullbore::inject {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kClockPeriod_ns = kSecond_ns / 2;
constexpr std::int64_t kFlushPeriod_ns = kSecond_ns;
// A window of tiny kernels fills in a few rounds of this; 25 ms is 40 flushes per second at most.
constexpr std::int64_t kWindowRound_ns = 25'000'000;
constexpr std::uint32_t kNullBuffersAllowed = 27;  // cuptiGetVersion of CUDA 12.9
constexpr std::int64_t kRetry_ns = 10 * kSecond_ns;
// What a traced kernel with its launch call costs the launching thread beyond what CUPTI accounts for itself. Measured
// on an H200: bench/inject.md.
constexpr std::int64_t kKernelCost_ns = 2'000;

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

void Tracer::start(const TracerOptions& options, const BufferCallbacks& callbacks) {
  options_ = options;
  callbacks_ = callbacks;
  snprintf(rings_, sizeof rings_, "%s", options.rings);
  if (options_.stay_out == nullptr) options_.stay_out = find_cupti(api_);
  if (options_.stay_out == nullptr && !pool_.allocate()) options_.stay_out = "no memory for trace buffers";
  if (options_.stay_out == nullptr) {
    driver_ = find_driver();
    std::uint32_t version = 0;
    api_.get_version(&version);
    parser_.set_version(version);
    never_null_ = version < kNullBuffersAllowed;
    // Paused before we were there: somebody is using CUPTI now.
    if (paused_ == 0) outcome_ = tracing_.begin(callbacks_, false);
  }
  started_ = start_thread();
  if (!started_ && tracing_.on()) tracing_.end();
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
  // Said now: a process may end before the first round.
  if (outcome_ == Tracing::Outcome::kTaken) output_.missing("gpu.trace", tracing_.why());
  // While a thread captures a graph, what CUPTI does on this one would spoil the capture in any stricter mode.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (driver_.capture_mode != nullptr) driver_.capture_mode(&mode);
  pthread_mutex_lock(&lock_);
  bool going = options_.stay_out == nullptr;
  while (going && !stopping_ && !output_.stopped() && outcome_ != Tracing::Outcome::kRefused) {
    const std::int64_t now_ns = monotonic_now_ns();
    round(now_ns);
    wait_until(next_round_ns(now_ns));
  }
  if (outcome_ == Tracing::Outcome::kRefused) output_.missing("gpu.trace", tracing_.why());
  if (going) finish();
  pthread_mutex_unlock(&lock_);
  output_.close();
}

void Tracer::wait_until(std::int64_t time_ns) {
  const timespec until = as_timespec(time_ns);
  if (!stopping_) pthread_cond_timedwait(&wake_, &lock_, &until);
}

std::int64_t Tracer::next_round_ns(std::int64_t now_ns) const {
  if (window_open_) return now_ns + kWindowRound_ns;
  if (!tracing_.on()) return now_ns + kSecond_ns / 4;
  const std::int64_t due_ns = sooner(clock_due_ns_, flush_due_ns_);
  return kernels_refused_ ? due_ns : sooner(due_ns, plan_.next_ns());
}

void Tracer::round(std::int64_t now_ns) {
  if (paused_ > 0) return take_buffers();
  if (!tracing_.on()) begin_tracing(now_ns);
  if (!tracing_.on()) return;
  if (now_ns >= clock_due_ns_) pair_clocks(now_ns);
  if (window_open_) return watch_window(now_ns);
  if (now_ns >= flush_due_ns_) {
    flush_due_ns_ = now_ns + kFlushPeriod_ns;
    tracing_.flush();
    take_buffers();
    parser_.end_of_second();
  }
  if (!kernels_refused_ && now_ns >= plan_.next_ns()) open_window();
}

void Tracer::begin_tracing(std::int64_t now_ns) {
  if (now_ns < retry_due_ns_) return;
  retry_due_ns_ = now_ns + kRetry_ns;
  outcome_ = tracing_.begin(callbacks_, shared_);
  if (outcome_ == Tracing::Outcome::kTaken) output_.missing("gpu.trace", tracing_.why());
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

void Tracer::take_buffers() {
  if (clock_.empty()) return;
  pool_.drain([this](std::uint8_t* buffer, std::size_t valid) { parser_.parse(buffer, valid); });
  const ActivityParser::Counts counts = parser_.take_counts();
  window_.kernels += counts.kernels;
  window_.calls += counts.calls;
  window_.lost += counts.lost;
  window_.cost_ns += counts.cost_ns;
}

void Tracer::open_window() {
  if (!tracing_.open_window()) {
    kernels_refused_ = true;
    return output_.missing("gpu.kernels", tracing_.why());
  }
  if (!tracing_.has_launch_calls()) {
    output_.missing("gpu.launch_calls", "this libcupti cannot trace single calls (it is older than CUDA 12.5)");
  }
  window_open_ = true;
  window_ = {};
  dropped_before_ = output_.dropped() + pool_.refused();
  window_begin_ns_ = monotonic_now_ns();
}

void Tracer::watch_window(std::int64_t now_ns) {
  tracing_.flush();
  take_buffers();
  const std::int64_t most = sooner(WindowPlan::kMostKernels, static_cast<std::int64_t>(output_.capacity() / 192));
  if (now_ns - window_begin_ns_ >= WindowPlan::kWindow_ns || window_.kernels >= most) close_window();
}

void Tracer::close_window() {
  const std::int64_t end_ns = monotonic_now_ns();
  tracing_.close_window();
  window_open_ = false;
  tracing_.flush();
  take_buffers();
  parser_.put_overheads();
  const std::uint64_t dropped = output_.dropped() + pool_.refused() - dropped_before_ + window_.lost;
  const std::int64_t cost_ns = window_.cost_ns + window_.kernels * kKernelCost_ns;
  output_.put(wire::TraceWindowRecord{window_begin_ns_, end_ns, cost_ns, thread_cpu_ns(), window_.kernels,
                                      window_.calls, static_cast<std::uint32_t>(dropped), 0,
                                      output_.name(tracing_.has_launch_calls() ? "kernels" : "kernels_no_launch")});
  plan_.spent(end_ns, cost_ns, window_.kernels);
}

void Tracer::finish() {
  if (tracing_.on()) {
    pair_clocks(monotonic_now_ns());
    if (window_open_) close_window();
    tracing_.end();
  }
  take_buffers();
  parser_.end_of_second();
}

bool Tracer::lock_within(std::int64_t ns) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until = as_timespec(until.tv_sec * kSecond_ns + until.tv_nsec + ns);
  return pthread_mutex_timedlock(&lock_, &until) == 0;
}

void Tracer::pause() {
  if (abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns)) return;
  ++paused_;
  shared_ = true;
  if (tracing_.on()) {
    if (window_open_) tracing_.close_window();
    window_open_ = false;
    tracing_.end();
  }
  if (started_) pthread_cond_signal(&wake_);
  pthread_mutex_unlock(&lock_);
}

void Tracer::resume() {
  if (abandoned_.load(std::memory_order_relaxed) || !lock_within(kSecond_ns)) return;
  if (paused_ > 0) --paused_;
  retry_due_ns_ = 0;
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
