// One CUDA device with its primary context, the one that PyTorch uses too. Every thread of ours that calls CUDA enters
// it first; a thread that did not would create a context of its own, or break a graph capture of the training thread.
#pragma once

#include <memory>

#include "gpu/cuda_driver.h"

namespace fullbore::gpu {

// Owns one reference to the primary context. Safe to use from several threads. In a child forked after it was opened
// nothing may be called, and the destructor does nothing: the driver does not survive a fork.
class Device {
 public:
  static base::Expected<std::shared_ptr<const Device>> open(const CudaApi& api, int ordinal);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const CudaApi& api() const { return api_; }
  int ordinal() const { return ordinal_; }
  bool forked() const;

  // For a thread of ours: makes the context current for the rest of the thread's life and lets its calls pass while
  // another thread captures a graph (in global mode an event query in *any* thread makes the capture fail).
  base::Expected<void> enter_thread() const;

 private:
  Device(const CudaApi& api, int ordinal, ContextHandle context, int pid)
      : api_(api), ordinal_(ordinal), context_(context), pid_(pid) {}

  friend class ContextScope;
  const CudaApi& api_;
  int ordinal_;
  ContextHandle context_;
  int pid_;
};

// For a thread that is not ours: within the scope the device's context is current and calls pass while another thread
// captures a graph; after it both are the caller's again.
class ContextScope {
 public:
  explicit ContextScope(const Device& device);
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope();

 private:
  void exchange_mode();

  const Device& device_;
  ContextHandle before_ = nullptr;
  int mode_;
  bool changed_ = false;
};

}  // namespace fullbore::gpu
