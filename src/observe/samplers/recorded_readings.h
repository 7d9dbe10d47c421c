// For the tests of samplers: keeps what was reported, by metric and label.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "observe/sampler.h"

namespace fullbore::observe {

// The content of a base::InMemoryFiles by path.
using Texts = std::map<std::string, std::string>;

class RecordedReadings final : public Readings {
 public:
  void gauge(std::string_view metric, std::string_view label, std::string_view unit, double value) override {
    put(metric, label, unit, value);
  }
  void counter(std::string_view metric, std::string_view label, std::string_view unit, double value) override {
    put(metric, label, unit, value);
  }
  void missing(std::string_view signal, std::string_view why) override {
    missing_.try_emplace(std::string(signal), why);
  }

  std::optional<double> value(const std::string& metric, const std::string& label = "") const {
    const auto it = values_.find({metric, label});
    return it == values_.end() ? std::nullopt : std::optional(it->second);
  }
  // "" if the signal was not reported missing.
  std::string why(const std::string& signal) const {
    const auto it = missing_.find(signal);
    return it == missing_.end() ? "" : it->second;
  }
  const std::map<std::pair<std::string, std::string>, double>& values() const { return values_; }
  const std::map<std::string, std::string>& units() const { return units_; }
  const std::map<std::string, std::string>& all_missing() const { return missing_; }
  void clear() { values_.clear(); }

 private:
  void put(std::string_view metric, std::string_view label, std::string_view unit, double value) {
    values_[{std::string(metric), std::string(label)}] = value;
    units_[std::string(metric)] = unit;
  }

  std::map<std::pair<std::string, std::string>, double> values_;
  std::map<std::string, std::string> units_;
  std::map<std::string, std::string> missing_;
};

}  // namespace fullbore::observe
