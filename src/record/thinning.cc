#include "record/thinning.h"

#include <algorithm>

namespace fullbore::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::size_t kSlowest = 100;

}  // namespace

bool SampleThinner::keep(std::int64_t now_ns, std::int64_t wall_ns) {
  if (now_ns / kSecond != second_) {
    second_ = now_ns / kSecond;
    every_ = std::max<std::uint64_t>(1, (seen_in_second_ + per_second_ - 1) / per_second_);
    seen_in_second_ = 0;
  }
  const bool slow = among_slowest(now_ns, wall_ns);
  // The first second has no rate to go by: it may take its share and no more.
  const bool in_turn = seen_in_second_ % every_ == 0 && seen_in_second_ / every_ < per_second_;
  ++seen_in_second_;
  return in_turn || slow;
}

bool SampleThinner::among_slowest(std::int64_t now_ns, std::int64_t wall_ns) {
  if (now_ns / kMinute != minute_) {
    minute_ = now_ns / kMinute;
    slowest_ = {};
  }
  if (slowest_.size() == kSlowest) {
    if (wall_ns <= slowest_.top()) return false;
    slowest_.pop();
  }
  slowest_.push(wall_ns);
  return true;
}

void Budget::turn(std::int64_t now_ns) {
  if (now_ns / kMinute == minute_) return;
  minute_ = now_ns / kMinute;
  spent_ = 0;
}

void Budget::spent(std::int64_t now_ns, std::uint64_t bytes) {
  turn(now_ns);
  spent_ += bytes;
}

bool Budget::details_allowed(std::int64_t now_ns) {
  turn(now_ns);
  return spent_ < bytes_per_minute_;
}

}  // namespace fullbore::record
