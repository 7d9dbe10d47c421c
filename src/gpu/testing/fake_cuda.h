// A CUDA driver without a device, for tests: streams are queues whose work is done as late, or as early, as events
// allow, in an order drawn from a seed. A wait that is missing is then a wrong byte in some seed, not a rare accident.
//
// Device memory is host memory. Page-locked memory is read when the stream gets to the copy, other memory when the copy
// is queued, as the real driver does. A held stream does nothing until it is released, as behind a kernel that spins.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "gpu/cuda_api.h"

namespace fullbore::gpu::testing {

// What a kernel does, for the processor: `run` gets the addresses of its arguments, which are so many bytes each.
struct HostKernel {
  std::vector<std::size_t> argument_bytes;
  void (*run)(unsigned blocks, unsigned threads, void* const* arguments);
};

struct FakeCudaOptions {
  std::uint64_t seed = 1;
  int devices = 2;
  std::size_t most_pinned_bytes = 1u << 30;
};

// One at a time: the driver's functions have no argument to carry it. Thread-safe; must outlive all that uses its
// table.
class FakeCuda {
 public:
  explicit FakeCuda(FakeCudaOptions options = {});
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  const CudaApi& api() const { return api_; }

  StreamHandle make_stream();
  void hold(StreamHandle stream);
  void release(StreamHandle stream);
  // Work for a stream; runs with the fake locked, so it must not call the table.
  void launch(StreamHandle stream, std::function<void()> kernel);
  // From now on modules have this kernel, whatever their PTX says; must outlive its launches.
  void add_kernel(const std::string& name, HostKernel kernel);
  // Runs all that is queued and may run; streams that are held, and what waits for them, stay.
  void run_until_idle();
  bool idle(StreamHandle stream);

  // From now on this function of the table ("event_record") fails with `result`, after `after` more calls.
  void fail(const std::string& function, CUresult result, int after = 0);
  // How often a function of the table was called since the last clear_calls(); by the calling thread alone if asked.
  int calls(const std::string& function, bool own_thread = false);
  void clear_calls();
  std::size_t pinned_bytes();
  // Calls that a global capture of another thread would have been broken by.
  int capture_breaking_calls();
  void begin_capture() { capturing_ = true; }
  void end_capture() { capturing_ = false; }

 private:
  struct Event {
    std::uint64_t recorded = 0;  // how often it was recorded, queued or not
    std::uint64_t reached = 0;   // the last record that the stream got to
    std::uint64_t time = 0;
  };
  struct Operation {
    std::function<bool()> ready;  // empty: always
    std::function<void()> run;
  };
  struct Stream {
    std::deque<Operation> queue;
    bool held = false;
  };
  friend struct FakeFunctions;

  CUresult enter(const char* function, bool breaks_capture = false);
  Stream& stream(StreamHandle handle) { return streams_[handle]; }
  bool step();            // one operation of one stream, by the seed; false if none may run
  void step_at_random();  // none, or a few
  bool wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done);

  CudaApi api_{};
  FakeCudaOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 random_;
  std::map<StreamHandle, Stream> streams_;
  std::map<EventHandle, Event> events_;
  std::map<std::uintptr_t, std::size_t> pinned_;
  std::map<std::string, HostKernel> kernels_;
  std::map<std::string, std::pair<CUresult, int>> failures_;
  std::map<std::string, std::map<std::uint64_t, int>> calls_;
  std::uint64_t next_handle();  // never one of an earlier fake, which something may still hold

  std::uint64_t clock_ = 0;
  std::atomic<bool> capturing_ = false;
  int broken_ = 0;
};

}  // namespace fullbore::gpu::testing
