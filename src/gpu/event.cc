#include "gpu/event.h"

#include "gpu/cuda_api.h"

namespace fullbore::gpu {

using base::Expected;

Expected<Event> Event::create(std::shared_ptr<const Device> device, EventUse use) {
  const CudaApi& api = device->api();
  const unsigned flags = use == EventUse::kOrder ? CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC
                                                 : static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC);
  CUevent handle = nullptr;
  const ContextScope scope(*device);
  if (auto ok = check(api, api.event_create(&handle, flags), "make an event"); !ok) return std::unexpected(ok.error());
  return Event(std::move(device), handle);
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_ != nullptr && !device_->forked()) device_->api().event_destroy(handle_);
}

Expected<void> Event::record(StreamHandle stream) {
  return check(device_->api(), device_->api().event_record(handle_, stream), "record an event");
}

Expected<bool> Event::done() const {
  const CUresult result = device_->api().event_query(handle_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  if (auto ok = check(device_->api(), result, "finish the copy"); !ok) return std::unexpected(ok.error());
  return true;
}

Expected<void> Event::wait() const {
  return check(device_->api(), device_->api().event_synchronize(handle_), "finish the copy");
}

Expected<void> Event::make_wait(StreamHandle stream) const {
  return check(device_->api(), device_->api().stream_wait_event(stream, handle_, 0), "make a stream wait for an event");
}

Expected<double> Event::elapsed_ms(const Event& begin, const Event& end) {
  const CudaApi& api = begin.device_->api();
  float ms = 0;
  const CUresult result = api.event_elapsed_time(&ms, begin.handle_, end.handle_);
  if (auto ok = check(api, result, "read the time between two events"); !ok) return std::unexpected(ok.error());
  return static_cast<double>(ms);
}

}  // namespace fullbore::gpu
