#include "report/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "report/words.h"

namespace fullbore::report {
namespace {

bool is_part(std::string_view name) {
  return std::ranges::find(diagnose::kPartIds, name) != diagnose::kPartIds.end();
}
bool is_step_time(std::string_view name) {
  return name == "mean_ms" || name == "p50_ms" || name == "p99_ms";
}

std::string value_text(const Limit& limit, double value) {
  return limit.is_share ? percent(value) : milliseconds(value) + " ms";
}

}  // namespace

base::Expected<Limit> parse_limit(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return base::fail(fmt::format("'{}' is no limit; write it as input_wait=5%", text));
  Limit limit{std::string(text.substr(0, equals)), 0, false};
  if (!is_part(limit.name) && !is_step_time(limit.name)) {
    return base::fail(fmt::format("no number '{}' to limit; known are {}, mean_ms, p50_ms and p99_ms", limit.name,
                                  fmt::join(diagnose::kPartIds, ", ")));
  }
  const std::string_view value = text.substr(equals + 1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit.above);
  const std::string_view unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
  const bool takes_share = is_part(limit.name);
  if (error != std::errc() || limit.above < 0 ||
      (unit != "ms" && !(takes_share && unit == "%") && !(!takes_share && unit.empty()))) {
    return base::fail(fmt::format("'{}' is no limit for {}; write it as {}", value, limit.name,
                                  takes_share ? limit.name + "=5% or " + limit.name + "=20ms" : limit.name + "=200"));
  }
  if (unit == "%") {
    limit.is_share = true;
    limit.above /= 100;
  }
  return limit;
}

std::optional<double> measured(const diagnose::Diagnosis& d, const Limit& limit) {
  if (limit.name == "mean_ms") return d.steps.mean_ms;
  if (limit.name == "p50_ms") return d.steps.p50_ms;
  if (limit.name == "p99_ms") return d.steps.p99_ms;
  const auto found = d.account.parts.find(limit.name);
  if (found == d.account.parts.end()) return std::nullopt;
  return limit.is_share ? found->second.share : found->second.ms;
}

std::string exceeded_text(const Limit& limit, double value) {
  return fmt::format("{} is {}, above the limit of {}", limit.name, value_text(limit, value),
                     value_text(limit, limit.above));
}

}  // namespace fullbore::report
