// The one clock of a run: CLOCK_MONOTONIC nanoseconds, handed in so that tests can turn it by hand.
#pragma once

#include <cstdint>

namespace fullbore::base {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;
};

// What every record is stamped with.
class MonotonicClock final : public Clock {
 public:
  std::int64_t now_ns() const override;
};

// The same without an object, for what only times itself.
inline std::int64_t monotonic_ns() {
  return MonotonicClock().now_ns();
}

// For tests: stands still until told.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t now_ns = 0) : now_ns_(now_ns) {}
  std::int64_t now_ns() const override { return now_ns_; }
  void advance_ns(std::int64_t by_ns) { now_ns_ += by_ns; }

 private:
  std::int64_t now_ns_;
};

}  // namespace fullbore::base
