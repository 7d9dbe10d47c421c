// CUPTI attached to the process for one window, and taken out again. Attached it costs every launch something, also
// with all kinds switched off, and only cuptiFinalize undoes that (bench/inject_states.py). Says why when it is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti_api.h"

namespace fullbore::inject {

struct Callbacks {
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  CUpti_CallbackFunc left;  // a thread enters or leaves CUDA; only after await_exit()
};

// Calls are made by one thread at a time.
class Tracing {
 public:
  enum class Outcome {
    kOk,
    kTaken,    // another tool has CUPTI: may be over later
    kRefused,  // for good
  };
  static constexpr std::size_t kWhyBytes = 320;

  constexpr explicit Tracing(const CuptiApi& api) : api_(api) {}

  // Why a libcupti of this version (cuptiGetVersion) is not used, or null.
  static const char* unusable(std::uint32_t version);

  // Copies, kernels, waits and launch calls are recorded from here on. `shared`: somebody who is known and idle
  // (torch.profiler after a session) may hold the subscription, and CUPTI then stays when we go.
  Outcome attach(const Callbacks& callbacks, bool shared);
  bool attached() const { return attached_; }
  // Nothing new is recorded; what is running is still handed over when it ends.
  void close();
  // Everything that is complete is handed to the callback.
  void flush() { api_.flush(0); }
  // Hands back every buffer, so that whoever comes next does not get ours.
  void end();

  // After end(): asks for `left`, from where finalize() may be called. False: CUPTI is in somebody else's use and
  // stays.
  bool await_exit(CUpti_CallbackFunc left);
  // Takes CUPTI out of the process. In `left` at the exit of a call, or where no thread is inside CUDA.
  void finalize() { api_.finalize(); }

  const char* why() const { return why_; }

 private:
  Outcome subscribe(CUpti_CallbackFunc callback);
  Outcome probe(CUpti_CallbackFunc callback);
  CUptiResult enable(const Callbacks& callbacks);
  void limit_memory();
  void restore_memory();
  void say(const char* what, CUptiResult result);
  void set_calls(std::uint8_t enable);

  const CuptiApi& api_;
  bool attached_ = false;
  bool shared_ = false;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::size_t device_buffers_ = 0;  // as they were before us; 0: not known
  char why_[kWhyBytes] = "";
};

}  // namespace fullbore::inject
