// From the clock of CUPTI's records to CLOCK_MONOTONIC. CUPTI stamps with CLOCK_REALTIME, which time servers step, so
// both are read together at least once a second and times in between are interpolated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fullbore::inject {

struct ClockPair {
  std::int64_t monotonic_ns;
  std::int64_t device_ns;
  std::int64_t residual_ns;
};

// Owned by the tracer's thread.
class ClockMap {
 public:
  void add(const ClockPair& pair);
  bool empty() const { return count_ == 0; }
  // How far the device's clock has moved against ours between the last two pairs; `known` false for the first.
  std::int64_t last_drift_ns(bool& known) const;

  // Linear between pairs, by the nearest pair's offset outside them.
  std::int64_t monotonic(std::uint64_t device_ns) const;

 private:
  static constexpr std::size_t kPairs = 16;
  const ClockPair& pair(std::size_t age) const { return pairs_[(count_ - 1 - age) % kPairs]; }

  ClockPair pairs_[kPairs] = {};
  std::size_t count_ = 0;
};

}  // namespace fullbore::inject
