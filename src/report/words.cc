#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fullbore::report {
namespace {

// "12345.6" -> "12,345.6"
std::string with_thousands(std::string digits) {
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = end; at > begin + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

int decimals_for(double value, int digits) {
  const double size = std::abs(value);
  for (int decimals = 0; decimals < digits; ++decimals) {
    if (size >= std::pow(10, digits - 1 - decimals)) return decimals;
  }
  return digits;
}

}  // namespace

std::string_view word(diagnose::Severity severity) {
  switch (severity) {
    case diagnose::Severity::kNone:
      return "none";
    case diagnose::Severity::kNote:
      return "note";
    case diagnose::Severity::kWarning:
      return "warning";
    case diagnose::Severity::kCritical:
      return "critical";
  }
  return "none";
}

std::string_view word(diagnose::Confidence confidence) {
  switch (confidence) {
    case diagnose::Confidence::kHigh:
      return "high";
    case diagnose::Confidence::kMedium:
      return "medium";
    case diagnose::Confidence::kLow:
      return "low";
  }
  return "low";
}

std::string_view word(diagnose::FixOutcome outcome) {
  switch (outcome) {
    case diagnose::FixOutcome::kApplied:
      return "applied";
    case diagnose::FixOutcome::kLeftAlone:
      return "left alone";
    case diagnose::FixOutcome::kTakenBack:
      return "taken back";
  }
  return "left alone";
}

std::string milliseconds(double ms) {
  const double size = std::abs(ms);
  const int decimals = size >= 1000 ? 0 : size >= 10 ? 1 : 2;
  return with_thousands(fmt::format("{:.{}f}", ms, decimals));
}

std::string milliseconds_of(double ms, double step_ms) {
  return with_thousands(fmt::format("{:.{}f}", ms, step_ms >= 1000 ? 0 : step_ms >= 10 ? 1 : 2));
}

std::string epoch_time(double hours) {
  if (hours >= 1) return fmt::format("{:.1f} h", hours);
  return hours >= 1.0 / 60 ? fmt::format("{:.1f} min", 60 * hours) : fmt::format("{:.1f} s", 3600 * hours);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string factor(double value) {
  return fmt::format("{:.{}f}x", value, value >= 10 ? 1 : 2);
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return with_thousands(fmt::format("{:.0f}", value));
  return with_thousands(fmt::format("{:.{}f}", value, decimals_for(value, 3)));
}

std::string with_unit(double value, std::string_view unit) {
  if (unit == "share") return percent(value);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit.empty()) return number(value);
  return fmt::format("{} {}", unit == "ms" ? milliseconds(value) : number(value), unit);
}

std::string place(const diagnose::Location& where) {
  const std::size_t slash = where.file.rfind('/');
  const std::string_view name = std::string_view(where.file).substr(slash == std::string::npos ? 0 : slash + 1);
  return where.line > 0 ? fmt::format("{}:{}", name, where.line) : std::string(name);
}

std::string spaced(std::string id) {
  std::ranges::replace(id, '_', ' ');
  return id;
}

std::optional<double> system_value(const diagnose::Diagnosis& diagnosis, std::string_view metric) {
  for (const auto& [name, value] : diagnosis.system) {
    if (name == metric) return value;
  }
  return std::nullopt;
}

}  // namespace fullbore::report
