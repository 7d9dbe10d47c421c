#include "cli/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace fullbore::cli {
namespace {

struct Number {
  double value;
  std::string_view unit;
};

base::Expected<Number> split(std::string_view text, std::string_view what, std::string_view example) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value <= 0) {
    return base::fail(fmt::format("'{}' is no {}; write it as {}", text, what, example));
  }
  return Number{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

template <std::size_t N>
base::Expected<double> scaled(std::string_view text, std::string_view what, std::string_view example,
                              const std::array<std::pair<std::string_view, double>, N>& units) {
  const auto number = split(text, what, example);
  if (!number) return std::unexpected(number.error());
  for (const auto& [unit, scale] : units) {
    // Far inside what 64 bits hold.
    if (number->unit == unit && number->value * scale < 9e18) return number->value * scale;
  }
  return base::fail(fmt::format("'{}' is no {}; write it as {}", text, what, example));
}

}  // namespace

base::Expected<std::int64_t> parse_duration_ns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"", 1e9}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};
  const auto value = scaled(text, "duration", "60s, 5m or 1h", kUnits);
  if (!value) return std::unexpected(value.error());
  return static_cast<std::int64_t>(*value);
}

base::Expected<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 11> kUnits = {{{"", 1},
                                                                                  {"B", 1},
                                                                                  {"kB", 1e3},
                                                                                  {"KB", 1e3},
                                                                                  {"MB", 1e6},
                                                                                  {"GB", 1e9},
                                                                                  {"TB", 1e12},
                                                                                  {"KiB", 1024},
                                                                                  {"MiB", 1048576},
                                                                                  {"GiB", 1073741824},
                                                                                  {"TiB", 1099511627776}}};
  const auto value = scaled(text, "size", "500MB or 1GB", kUnits);
  if (!value) return std::unexpected(value.error());
  return static_cast<std::uint64_t>(*value);
}

base::Expected<double> parse_price_per_hour(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 2> kUnits = {{{"", 1}, {"/h", 1}}};
  return scaled(text, "price", "25/h", kUnits);
}

}  // namespace fullbore::cli
