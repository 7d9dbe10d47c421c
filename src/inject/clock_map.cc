#include "inject/clock_map.h"

namespace fullbore::inject {
namespace {

std::int64_t offset(const ClockPair& pair) {
  return pair.monotonic_ns - pair.device_ns;
}

}  // namespace

void ClockMap::add(const ClockPair& pair) {
  pairs_[count_ % kPairs] = pair;
  ++count_;
}

std::int64_t ClockMap::last_drift_ns(bool& known) const {
  known = count_ >= 2;
  return known ? offset(pair(0)) - offset(pair(1)) : 0;
}

std::int64_t ClockMap::monotonic(std::uint64_t device_ns) const {
  if (count_ == 0) return 0;
  const auto at = static_cast<std::int64_t>(device_ns);
  const std::size_t known = count_ < kPairs ? count_ : kPairs;
  if (at >= pair(0).device_ns) return at + offset(pair(0));
  for (std::size_t age = 1; age < known; ++age) {
    const ClockPair& before = pair(age);
    const ClockPair& after = pair(age - 1);
    if (at < before.device_ns) continue;
    const std::int64_t span = after.device_ns - before.device_ns;
    if (span <= 0) return at + offset(after);
    const double share = static_cast<double>(at - before.device_ns) / static_cast<double>(span);
    const std::int64_t drift = offset(after) - offset(before);
    return at + offset(before) + static_cast<std::int64_t>(static_cast<double>(drift) * share);
  }
  return at + offset(pair(known - 1));
}

}  // namespace fullbore::inject
