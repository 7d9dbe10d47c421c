// Turns what samplers read into records: each series introduced once, then only the values that changed, so an idle
// machine costs next to nothing in the run folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/sampler.h"

namespace fullbore::observe {

// Owned by the collector's thread.
class SeriesEncoder final : public Readings {
 public:
  void gauge(std::string_view metric, std::string_view label, std::string_view unit, double value) override;
  void counter(std::string_view metric, std::string_view label, std::string_view unit, double value) override;
  void missing(std::string_view signal, std::string_view why) override;

  // Records of what changed since the last call, stamped `now_ns`; empty if nothing did. Valid until the next call.
  std::span<const std::byte> take(std::int64_t now_ns);
  // Signal and reason, in the order met.
  const std::vector<std::pair<std::string, std::string>>& missing_signals() const { return missing_; }

 private:
  struct Series {
    std::uint32_t number;
    double last;
  };
  void put(wire::SeriesKind kind, std::string_view metric, std::string_view label, std::string_view unit, double value);
  wire::NameId introduce_name(std::string_view text);

  std::map<std::pair<std::string, std::string>, Series> series_;
  std::set<wire::NameId> names_;
  std::vector<std::byte> introductions_;  // names and series new since the last take
  std::vector<wire::Reading> changed_;
  std::vector<std::byte> taken_;
  std::vector<std::pair<std::string, std::string>> missing_;
};

}  // namespace fullbore::observe
