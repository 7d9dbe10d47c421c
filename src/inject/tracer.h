// The tracer of one process: set up by the thread that initialises CUDA, then a thread of its own that flushes,
// converts, opens and closes windows. The threads of the program meet it only where they hand over buffers, which takes
// no lock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "inject/activity_parser.h"
#include "inject/buffer_pool.h"
#include "inject/clock_map.h"
#include "inject/cupti_api.h"
#include "inject/output.h"
#include "inject/tracing.h"
#include "inject/window_plan.h"

namespace fullbore::inject {

struct TracerOptions {
  const char* rings = nullptr;  // folder of rings
  std::uint64_t ring_bytes = 0;
  std::int32_t rank = wire::kUnknown32;
  const char* stay_out = nullptr;  // why nothing may be traced here, or null
};

// One per process, never destroyed: callbacks may come until the very end.
class Tracer {
 public:
  constexpr Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Once. On the thread that is in cuInit; calls CUPTI but not CUDA.
  void start(const TracerOptions& options, const BufferCallbacks& callbacks);

  // For somebody else who wants CUPTI (torch.profiler): returns when all is switched off and every buffer is back, or
  // after a second. Nested calls need as many resumes.
  void pause();
  void resume();
  // At the end of the process: takes what is complete, at most half a second.
  void stop();

  // In a forked child: the tracer's thread is not there, and CUPTI must not be called.
  void abandon() { abandoned_.store(true, std::memory_order_relaxed); }

  // CUPTI's callbacks.
  std::uint8_t* request_buffer() { return pool_.request(never_null_); }
  void complete_buffer(const std::uint8_t* buffer, std::size_t valid) { pool_.complete(buffer, valid); }

 private:
  static void* thread_main(void* tracer);
  bool start_thread();
  void run();
  void wait_until(std::int64_t time_ns);
  // One round; the lock is held.
  void round(std::int64_t now_ns);
  void begin_tracing(std::int64_t now_ns);
  void pair_clocks(std::int64_t now_ns);
  void take_buffers();
  void open_window();
  void watch_window(std::int64_t now_ns);
  void close_window();
  void finish();
  std::int64_t next_round_ns(std::int64_t now_ns) const;
  bool lock_within(std::int64_t ns);

  TracerOptions options_;
  BufferCallbacks callbacks_ = {};
  CuptiApi api_ = {};
  DriverApi driver_ = {};
  BufferPool pool_;
  std::atomic<bool> abandoned_{false};
  char rings_[3584] = "";
  bool never_null_ = true;
  bool started_ = false;
  pthread_t thread_ = {};

  // Guards all calls of CUPTI but the callbacks, and what follows. CUPTI takes its own locks inside, and its callbacks
  // take none of ours.
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
  Tracing tracing_{api_};
  Tracing::Outcome outcome_ = Tracing::Outcome::kOk;
  bool stopping_ = false;
  bool shared_ = false;  // torch.profiler has been here and may keep its subscription
  std::uint32_t paused_ = 0;

  // Of the tracer's thread alone.
  ClockMap clock_;
  Output output_;
  ActivityParser parser_{api_, driver_, clock_, output_};
  WindowPlan plan_;
  bool kernels_refused_ = false;
  bool window_open_ = false;
  std::int64_t window_begin_ns_ = 0;
  std::uint64_t dropped_before_ = 0;
  ActivityParser::Counts window_;
  std::int64_t clock_due_ns_ = 0;
  std::int64_t flush_due_ns_ = 0;
  std::int64_t retry_due_ns_ = 0;
};

}  // namespace fullbore::inject
