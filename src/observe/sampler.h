// One source of numbers about the machine or the process tree. A sampler reads, it never judges; what it cannot read it
// names once with the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/records.h"

namespace fullbore::observe {

// Where samplers put what they read. Metric names, units and labels are those of docs/design/002-metrics.md.
class Readings {
 public:
  virtual ~Readings() = default;
  virtual void gauge(std::string_view metric, std::string_view label, std::string_view unit, double value) = 0;
  // Monotonic since some start; analysis takes differences.
  virtual void counter(std::string_view metric, std::string_view label, std::string_view unit, double value) = 0;
  // Reported once per signal, however often it is called.
  virtual void missing(std::string_view signal, std::string_view why) = 0;
};

// The processes that belong to the watched command now, refreshed by the collector before each round.
struct ProcessTree {
  std::uint32_t root_pid = 0;
  std::vector<std::uint32_t> pids;      // root first
  std::vector<std::uint32_t> trainers;  // said so through the hook; empty without it
  std::vector<std::string> data_paths;  // files that samples were read from
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::string_view name() const = 0;
  // Called from the collector's one thread, 10-20 times a second; must not block. `period_ns` is how often it wants to
  // be called.
  virtual std::int64_t period_ns() const { return 100'000'000; }
  virtual void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) = 0;
};

}  // namespace fullbore::observe
