// What is switched on in CUPTI and what is not: copies always, everything else in windows. Says why when something is
// refused. No subscription is held: the activity API needs none, and torch.profiler, which asks for one the first time
// it is used, never gets GPU events again in a process where that was refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti_api.h"

namespace fullbore::inject {

struct BufferCallbacks {
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
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

  // The first time before a context is made, so that device memory can be limited.
  // `shared`: somebody who is known and idle (torch.profiler after a session) may hold the subscription.
  Outcome begin(const BufferCallbacks& callbacks, bool shared);
  // Hands back every buffer, so that whoever comes next does not get ours.
  void end();
  bool on() const { return on_; }

  // False if kernels cannot be traced; why() says the reason.
  bool open_window();
  void close_window();
  // Single launch calls can be traced, so kernels are tied to them.
  bool has_launch_calls() const { return api_.enable_runtime_call != nullptr; }

  // Everything that is complete is handed to the callback.
  void flush() { api_.flush(0); }
  const char* why() const { return why_; }

 private:
  Outcome probe();
  void limit_memory();
  void restore_memory();
  void say(const char* what, CUptiResult result);
  void set_calls(std::uint8_t enable);

  const CuptiApi& api_;
  bool on_ = false;
  std::size_t device_buffers_ = 0;  // as they were before us; 0: not known
  char why_[kWhyBytes] = "";
};

}  // namespace fullbore::inject
