// Which records a run folder may leave out to keep to its budget. Steps, batches and everything rare always stay;
// per-sample costs are taken at even spacing, and the slowest of each minute on top.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "wire/records.h"

namespace fullbore::record {

// Keeps about `per_second` samples of every second, evenly spaced, plus the 100 slowest of each minute.
class SampleThinner {
 public:
  explicit SampleThinner(std::uint32_t per_second = 150) : per_second_(per_second) {}
  bool keep(std::int64_t now_ns, std::int64_t wall_ns);

 private:
  bool among_slowest(std::int64_t now_ns, std::int64_t wall_ns);

  std::uint32_t per_second_;
  std::int64_t second_ = -1;
  std::int64_t minute_ = -1;
  std::uint64_t seen_in_second_ = 0;
  std::uint64_t every_ = 1;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> slowest_;
};

// Counts bytes per minute. Over budget, details (samples, source lines) are to be left out until the minute is over.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes_per_minute) : bytes_per_minute_(bytes_per_minute) {}
  void spent(std::int64_t now_ns, std::uint64_t bytes);
  bool details_allowed(std::int64_t now_ns);

 private:
  void turn(std::int64_t now_ns);

  std::uint64_t bytes_per_minute_;
  std::int64_t minute_ = -1;
  std::uint64_t spent_ = 0;
};

}  // namespace fullbore::record
