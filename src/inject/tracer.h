// The tracer of one process: set up by the thread that initialises CUDA, then a thread of its own that opens and closes
// windows, flushes and converts. The threads of the program meet it only where they hand over buffers and where one of
// them takes CUPTI out, none of which takes a lock of ours.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "inject/activity_parser.h"
#include "inject/buffer_pool.h"
#include "inject/clock_map.h"
#include "inject/cupti_api.h"
#include "inject/detachment.h"
#include "inject/output.h"
#include "inject/tracing.h"
#include "inject/window_end.h"
#include "inject/window_plan.h"
#include "wire/loop_counters.h"

namespace fullbore::inject {

struct TracerOptions {
  const char* rings = nullptr;  // folder of rings
  std::uint64_t ring_bytes = 0;
  std::int32_t rank = wire::kUnknown32;
  const char* stay_out = nullptr;  // why nothing may be traced here, or null
  double cost_share = WindowPlan::kCostShare;
};

// One per process, never destroyed: callbacks may come until the very end.
class Tracer {
 public:
  constexpr Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Once. On the thread that is in cuInit; calls neither CUPTI's tracing nor CUDA.
  void start(const TracerOptions& options, const Callbacks& callbacks);

  // From now on windows may be opened.
  void allow();
  // Where the program's iterations are counted; read for as long as the process lives.
  void count(const wire::LoopCounters* counters) { counters_.store(counters, std::memory_order_release); }
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
  // The calling thread is about to return from CUDA.
  void leaving_cuda();

 private:
  enum class Phase {
    kIdle,      // CUPTI is not there
    kWindow,    // everything is recorded
    kDraining,  // nothing new is recorded, what was launched before is waited for
    kLeaving,   // waiting for a thread of the program to take CUPTI out; nobody else calls it
  };

  enum class Take { kWhatFits, kAll };

  static void* thread_main(void* tracer);
  bool start_thread();
  void run();
  LoopCount loop_count() const { return LoopCount::of(counters_.load(std::memory_order_acquire)); }
  bool is_counted() const { return counters_.load(std::memory_order_relaxed) != nullptr; }
  void wait_until(std::int64_t time_ns);
  std::int64_t next_round_ns(std::int64_t now_ns) const;
  // One round; the lock is held.
  void round(std::int64_t now_ns);
  void open_if_allowed(std::int64_t now_ns);
  void open_window(std::int64_t now_ns);
  void watch_window(std::int64_t now_ns);
  void choose_round(std::int64_t now_ns, std::uint32_t kernels);
  void close_window();
  void drain_window(std::int64_t now_ns);
  void leave();
  void window_is_over(std::int64_t detach_ns);
  void detach_now();
  void pair_clocks(std::int64_t now_ns);
  void take_buffers(Take take);
  void finish();
  void finalize_here();
  bool lock_within(std::int64_t ns);

  TracerOptions options_;
  Callbacks callbacks_ = {};
  CuptiApi api_ = {};
  DriverApi driver_ = {};
  BufferPool pool_;
  std::atomic<bool> abandoned_{false};
  std::atomic<const wire::LoopCounters*> counters_{nullptr};
  char rings_[3584] = "";
  bool never_null_ = true;
  bool started_ = false;
  pthread_t thread_ = {};

  // Guards all calls of CUPTI but the callbacks, and what follows. CUPTI takes its own locks inside, and its callbacks
  // take none of ours.
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
  Tracing tracing_{api_};
  Phase phase_ = Phase::kIdle;
  bool refused_ = false;
  bool stopping_ = false;
  bool shared_ = false;  // torch.profiler has been here and may keep its subscription
  bool allowed_ = false;
  std::uint32_t paused_ = 0;
  Detachment detachment_;

  // Of the tracer's thread alone.
  ClockMap clock_;
  Output output_;
  ActivityParser parser_{api_, driver_, clock_, output_};
  WindowPlan plan_;
  WindowEnd end_;
  std::int64_t round_ns_ = 0;   // until the window is looked at again
  int asked_ = 0;               // for a window that was not allowed
  std::int64_t attach_ns_ = 0;  // CPU time of attaching
  std::int64_t window_begin_ns_ = 0;
  std::int64_t window_end_ns_ = 0;
  std::uint64_t dropped_before_ = 0;
  ActivityParser::Counts window_;
  std::int64_t clock_due_ns_ = 0;
  std::int64_t second_due_ns_ = 0;  // copies of the window are summed up
};

}  // namespace fullbore::inject
