// A libcupti without a GPU: answers as told and hands out the records that a test asks for, in the newest structs, as a
// real one does. The test and the library under test both load it from the file libcupti.so.13.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace fullbore::inject {

class FakeCupti {
 public:
  virtual ~FakeCupti() = default;

  // What every call answers, and what a subscription answers; `holder` is then the name of whoever has it.
  virtual void answer(CUptiResult result) = 0;
  virtual void answer_subscription(CUptiResult result, const char* holder) = 0;
  virtual bool is_enabled(CUpti_ActivityKind kind) const = 0;
  virtual int subscriptions_held() const = 0;
  // A thread of the program returns from a call of CUDA.
  virtual void leave_call() = 0;
  // Something is switched on, or was and CUPTI has not been taken out since.
  virtual bool is_attached() const = 0;
  // Times that CUPTI was taken out; of these outside the exit of a call.
  virtual int finalized() const = 0;
  virtual int finalized_outside_calls() const = 0;
  // Answer of cuptiGetVersion.
  virtual void set_version(std::uint32_t version) = 0;
  // Callbacks of somebody else from now on.
  virtual void displace() = 0;
  // Buffers that were requested and not handed back.
  virtual int buffers_out() const = 0;
  // The attribute that limits device memory; 250 at first.
  virtual std::size_t pool_limit() const = 0;

  // The device's clock less CLOCK_MONOTONIC, from now on.
  virtual void set_clock_offset(std::int64_t ns) = 0;
  virtual std::uint64_t now() const = 0;

  // A buffer is not handed back unless that is forced: a kernel in it runs on.
  virtual void hold_buffer(bool hold) = 0;

  // Records of work, taken if their kind is enabled; times by the device's clock.
  virtual void copy(std::uint8_t source, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) = 0;
  virtual void kernel(const char* name, std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) = 0;
  // A kernel that was launched while kernels were recorded and ends now.
  virtual void end_kernel(const char* name, std::uint64_t begin, std::uint64_t end) = 0;
  virtual void launch_call(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) = 0;
  virtual void wait(std::uint64_t begin, std::uint64_t end) = 0;  // of the host for the device
  virtual void record_of_unknown_kind() = 0;
  virtual void overhead(std::uint32_t kind, std::uint64_t begin, std::uint64_t end) = 0;
  // The next buffer handed back ends `bytes` before its last record does.
  virtual void cut_next_buffer(std::size_t bytes) = 0;
};

// Exported by the fake as fullbore_fake_cupti.
using GetFakeCupti = FakeCupti* (*)();

}  // namespace fullbore::inject
