#include "inject/testing/fake_cupti.h"

#include <cupti_runtime_cbid.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fullbore::inject {
namespace {

constexpr std::uint32_t kUnknownKind = 200;

// Sizes in the newest header, by which the records of a buffer are walked.
std::size_t size_of(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    default:
      return 64;
  }
}

class Fake final : public FakeCupti {
 public:
  void answer(CUptiResult result) override { result_ = result; }
  void answer_subscription(CUptiResult result, const char* holder) override {
    subscription_ = result;
    holder_ = holder;
  }
  bool is_enabled(CUpti_ActivityKind kind) const override {
    const std::lock_guard guard(mutex_);
    return enabled_.contains(kind);
  }
  int subscriptions_held() const override { return held_; }
  void leave_call() override {
    CUpti_CallbackData data{};
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      in_exit_ = site == CUPTI_API_EXIT;
      const CUpti_CallbackFunc callback = domains_ > 0 && held_ > 0 ? callback_.load() : nullptr;
      if (callback != nullptr) callback(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, 0, &data);
    }
    in_exit_ = false;
  }
  bool is_attached() const override { return attached_; }
  int finalized() const override { return finalized_; }
  int finalized_outside_calls() const override { return finalized_outside_; }
  void set_version(std::uint32_t version) override { version_ = version; }
  std::uint32_t version() const { return version_; }
  void displace() override {
    const std::lock_guard guard(mutex_);
    request_ = nullptr;
  }
  int buffers_out() const override { return out_; }
  std::size_t pool_limit() const override { return pool_limit_; }
  CUptiResult set_pool_limit(std::size_t limit) {
    pool_limit_ = limit;
    return result_;
  }
  void set_clock_offset(std::int64_t ns) override { offset_ns_ = ns; }
  std::uint64_t now() const override {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec * 1'000'000'000 + time.tv_nsec + offset_ns_);
  }

  void copy(std::uint8_t source, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) override {
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    record.srcKind = source;
    record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    record.bytes = bytes;
    record.start = begin;
    record.end = end;
    put(record.kind, record);
  }
  void kernel(const char* name, std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) override {
    if (!is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return;
    append_kernel(name, correlation, begin, end);
  }
  void end_kernel(const char* name, std::uint64_t begin, std::uint64_t end) override {
    append_kernel(name, 0, begin, end);
  }
  void launch_call(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) override {
    CUpti_ActivityAPI record{};
    record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    record.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    record.correlationId = correlation;
    record.start = begin;
    record.end = end;
    if (calls_.load() > 0) append(record.kind, &record, sizeof record);
  }
  void wait(std::uint64_t begin, std::uint64_t end) override {
    CUpti_ActivitySynchronization2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    record.start = begin;
    record.end = end;
    put(record.kind, record);
  }
  void record_of_unknown_kind() override {
    char record[64] = {};
    std::memcpy(record, &kUnknownKind, sizeof kUnknownKind);
    append(kUnknownKind, record, sizeof record);
  }
  void overhead(std::uint32_t kind, std::uint64_t begin, std::uint64_t end) override {
    CUpti_ActivityOverhead3 record{};
    record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(kind);
    record.start = begin;
    record.end = end;
    record.overheadData = std::malloc(16);
    put(record.kind, record);
  }
  void hold_buffer(bool hold) override { hold_ = hold; }
  void cut_next_buffer(std::size_t bytes) override { cut_ = bytes; }

  // The vendor's functions.
  CUptiResult result() const { return result_; }
  CUptiResult subscribe(CUpti_CallbackFunc callback, char* holder, std::size_t room) {
    if (result_ != CUPTI_SUCCESS) return result_;
    if (subscription_ == CUPTI_SUCCESS) {
      ++held_;
      callback_ = callback;
    }
    if (holder != nullptr) std::snprintf(holder, room, "%s", holder_);
    return subscription_;
  }
  void unsubscribe() { --held_; }
  CUptiResult enable(std::uint32_t kind, bool on) {
    const std::lock_guard guard(mutex_);
    if (result_ == CUPTI_SUCCESS && on) {
      enabled_.insert(kind);
      attached_ = true;
    }
    if (!on) enabled_.erase(kind);
    return result_;
  }
  CUptiResult enable_call(bool on) {
    calls_ += on ? 1 : -1;
    return result_;
  }
  CUptiResult enable_domain() {
    ++domains_;
    return result_;
  }
  // Buffers that are out are forgotten, as are all settings.
  CUptiResult finalize() {
    const std::lock_guard guard(mutex_);
    enabled_.clear();
    request_ = nullptr;
    buffer_ = nullptr;
    held_ = out_ = calls_ = domains_ = 0;
    pool_limit_ = 250;
    attached_ = false;
    ++finalized_;
    if (!in_exit_) ++finalized_outside_;
    return result_;
  }
  CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard guard(mutex_);
    request_ = request;
    complete_ = complete;
    return result_;
  }
  CUptiResult flush(bool forced = true) {
    if (hold_ && !forced) return result_;
    std::unique_lock guard(mutex_);
    std::uint8_t* buffer = buffer_;
    const std::size_t size = size_;
    const std::size_t valid = used_ > cut_ ? used_ - cut_ : 0;
    buffer_ = nullptr;
    used_ = 0;
    cut_ = 0;
    guard.unlock();
    if (buffer == nullptr) return result_;
    --out_;
    complete_(nullptr, 0, buffer, size, valid);
    return result_;
  }
  // A cut record is still returned, as by a library that trusts itself.
  CUptiResult next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    std::uint8_t* at = buffer;
    if (*record != nullptr) {
      at = reinterpret_cast<std::uint8_t*>(*record);
      at += size_of((*record)->kind);
    }
    if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return CUPTI_SUCCESS;
  }

 private:
  void append_kernel(const char* name, std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) {
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.name = name;
    record.correlationId = correlation;
    record.start = begin;
    record.end = end;
    append(record.kind, &record, sizeof record);
  }
  template <typename T>
  void put(std::uint32_t kind, const T& record) {
    if (is_enabled(static_cast<CUpti_ActivityKind>(kind))) append(kind, &record, sizeof record);
  }
  void append(std::uint32_t, const void* record, std::size_t size) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      std::unique_lock guard(mutex_);
      if (request_ == nullptr) return;
      if (buffer_ == nullptr) {
        std::size_t most = 0;
        request_(&buffer_, &size_, &most);
        used_ = 0;
        if (buffer_ == nullptr) return;
        ++out_;
      }
      if (size_ - used_ >= size) {
        std::memcpy(buffer_ + used_, record, size);
        used_ += size;
        return;
      }
      guard.unlock();
      flush();
    }
  }

  mutable std::mutex mutex_;
  std::atomic<CUptiResult> result_{CUPTI_SUCCESS};
  std::atomic<CUptiResult> subscription_{CUPTI_SUCCESS};
  const char* holder_ = "";
  std::atomic<int> held_{0};
  std::atomic<CUpti_CallbackFunc> callback_{nullptr};
  std::atomic<int> domains_{0};
  std::atomic<bool> in_exit_{false};
  std::atomic<bool> attached_{false};
  std::atomic<bool> hold_{false};
  std::atomic<int> finalized_{0};
  std::atomic<int> finalized_outside_{0};
  std::atomic<std::uint32_t> version_{130001};
  std::atomic<int> out_{0};
  std::atomic<int> calls_{0};
  std::atomic<std::size_t> pool_limit_{250};
  std::atomic<std::int64_t> offset_ns_{1'000'000'000'000'000};
  std::set<std::uint32_t> enabled_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::size_t cut_ = 0;
};

Fake& fake() {
  static Fake instance;
  return instance;
}

}  // namespace
}  // namespace fullbore::inject

using fullbore::inject::fake;

FAKE_EXPORT fullbore::inject::FakeCupti* fullbore_fake_cupti() {
  return &fake();
}
FAKE_EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake().version();
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_OF_A_TEST";
  return CUPTI_SUCCESS;
}
FAKE_EXPORT CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = fake().now();
  return fake().result();
}
FAKE_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*) {
  return fake().subscribe(callback, nullptr, 0);
}
FAKE_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*,
                                          CUpti_SubscriberParams* params) {
  return fake().subscribe(callback, params->oldSubscriberName, params->oldSubscriberSize);
}
FAKE_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  fake().unsubscribe();
  return fake().result();
}
FAKE_EXPORT CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
  return fake().enable_domain();
}
FAKE_EXPORT CUptiResult cuptiFinalize() {
  return fake().finalize();
}
FAKE_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                       CUpti_BuffersCallbackCompleteFunc complete) {
  return fake().register_callbacks(request, complete);
}
FAKE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return fake().enable(kind, true);
}
FAKE_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return fake().enable(kind, false);
}
FAKE_EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  return fake().flush(flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}
FAKE_EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  return fake().next(buffer, valid, record);
}
FAKE_EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute, std::size_t*, void* value) {
  const std::size_t limit = fake().pool_limit();
  std::memcpy(value, &limit, sizeof limit);
  return fake().result();
}
FAKE_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t*, void* value) {
  if (attribute != CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT) return fake().result();
  std::size_t limit = 0;
  std::memcpy(&limit, value, sizeof limit);
  return fake().set_pool_limit(limit);
}
FAKE_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t enable) {
  return fake().enable_call(enable != 0);
}
FAKE_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) {
  return fake().result();
}
FAKE_EXPORT CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t) {
  return fake().result();
}
