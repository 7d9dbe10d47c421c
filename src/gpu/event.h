// A point in a stream's work that others can wait for, with the time at which the device reached it.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "gpu/device.h"

namespace fullbore::gpu {

enum class EventUse { kOrder, kTiming };  // an event for order alone costs the device least

// Owns the event; keeps the device open. Not to be recorded by two threads at once.
class Event {
 public:
  static base::Expected<Event> create(std::shared_ptr<const Device> device, EventUse use);
  Event(Event&& other) noexcept : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  EventHandle handle() const { return handle_; }

  base::Expected<void> record(StreamHandle stream);
  // True once all work before the last record() is done, and before any record(). Never blocks.
  base::Expected<bool> done() const;
  // Blocks the calling thread, without spinning, until done() would be true.
  base::Expected<void> wait() const;
  // Work that is given to `stream` from now on runs after this event. Never blocks.
  base::Expected<void> make_wait(StreamHandle stream) const;

  // Milliseconds on the device between two events of EventUse::kTiming; fails unless both are done.
  static base::Expected<double> elapsed_ms(const Event& begin, const Event& end);

 private:
  Event(std::shared_ptr<const Device> device, EventHandle handle) : device_(std::move(device)), handle_(handle) {}

  std::shared_ptr<const Device> device_;
  EventHandle handle_;
};

}  // namespace fullbore::gpu
