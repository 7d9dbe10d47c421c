// The before/after table for people and for machines.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/compare.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

constexpr std::size_t kLabel = 24;
constexpr std::size_t kValue = 14;
constexpr std::size_t kFactor = 10;
constexpr std::size_t kSide = 9;

std::string value_text(const std::optional<double>& value, const std::string& id, const std::string& unit) {
  if (!value) return "n/a";
  if (id == "epoch_hours") return epoch_time(*value);
  if (id.starts_with("cost")) return fmt::format("{:.{}f}", *value, *value >= 1 ? 2 : 4);
  return with_unit(*value, unit);
}

std::string_view word(Comparison::Outcome outcome) {
  switch (outcome) {
    case Comparison::Outcome::kFaster:
      return "faster";
    case Comparison::Outcome::kSlower:
      return "slower";
    case Comparison::Outcome::kUnchanged:
      return "unchanged";
    case Comparison::Outcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Ink ink_of(Comparison::Outcome outcome) {
  if (outcome == Comparison::Outcome::kFaster) return Ink::kGreen;
  return outcome == Comparison::Outcome::kSlower ? Ink::kRed : Ink::kBold;
}

std::string interval_text(const Comparison& c) {
  return c.low && c.high ? fmt::format(" (95 % interval {} to {})", factor(*c.low), factor(*c.high)) : "";
}

// Which runs these are; the command once where it is the same.
void write_sides(Page& page, const Comparison& c) {
  const bool same = c.before.command == c.after.command;
  for (const auto& [name, side] : {std::pair("before", &c.before), std::pair("after", &c.after)}) {
    if (side->run.empty()) continue;
    std::string text = clean(side->run);
    if (!side->fix.empty()) text += " with --fix=" + clean(side->fix.substr(side->fix.rfind('/') + 1));
    if (!same) text += ": " + clean(side->command);
    page.prose(name, kSide, text);
  }
  if (same && !c.before.command.empty()) page.prose("command", kSide, clean(c.before.command));
}

// What the first report had promised.
void write_promise(Page& page, const Comparison& c) {
  if (!c.factor || (!c.bound && !c.predicted)) return;
  std::string text = fmt::format("measured {}", factor(*c.factor));
  if (c.predicted) {
    text += fmt::format(", predicted {}", factor(*c.predicted));
    if (c.predicted_low && c.predicted_high)
      text += fmt::format(" ({} to {})", factor(*c.predicted_low), factor(*c.predicted_high));
    // The prediction is of one change; whether the second run has it is known where Fullbore made it.
    if (c.as_recommended) text += fmt::format(", off by {:.0f} %", 100 * std::abs(*c.factor / *c.predicted - 1));
  }
  if (c.bound) text += fmt::format(", bound {}", factor(*c.bound));
  text += fmt::format(" for removing {}", clean(c.bound_cause));
  if (c.bound && *c.factor > *c.bound) {
    text += c.low.value_or(*c.factor) > *c.bound * 1.02 ? "; more than the bound: something else changed too"
                                                        : "; above the bound by less than the steps of both runs vary";
  } else if (c.as_recommended && c.predicted_low && c.predicted_high &&
             (*c.factor < *c.predicted_low || *c.factor > *c.predicted_high)) {
    text += "; outside the interval that was predicted";
  }
  page.blank();
  page.prose("gain", 7, text);
}

nlohmann::ordered_json json_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// |predicted - measured| / measured step after the fix; null where the second run is not the one that was predicted.
nlohmann::ordered_json prediction_error(const Comparison& c) {
  if (!c.as_recommended || !c.predicted || !c.factor || *c.predicted <= 0) return nullptr;
  return std::abs(*c.factor / *c.predicted - 1);
}

}  // namespace

std::string outcome_text(const Comparison& c) {
  const std::string_view what = c.basis == "whole" ? "step over the whole run" : "steady step";
  switch (c.outcome) {
    case Comparison::Outcome::kFaster:
      return fmt::format("The second run is {} faster per {}{}.", factor(*c.factor), what, interval_text(c));
    case Comparison::Outcome::kSlower:
      return fmt::format("The second run is slower: {} the speed of the first per {}{}.", factor(*c.factor), what,
                         interval_text(c));
    case Comparison::Outcome::kUnchanged:
      return fmt::format("Nothing was gained: {} per {}{} is within the noise.", factor(*c.factor), what,
                         interval_text(c));
    case Comparison::Outcome::kUnknown:
      break;
  }
  return "No gain can be told: the step time was not measured in both runs.";
}

std::string comparison_text(const Comparison& c, const TextOptions& options) {
  Page page(options);
  page.prose("", 0, outcome_text(c), ink_of(c.outcome));
  page.blank();
  write_sides(page, c);
  page.blank();
  page.line(page.paint(Ink::kDim, page.left("", kLabel) + page.right("before", kValue) + page.right("after", kValue) +
                                      page.right("factor", kFactor)));
  for (const Comparison::Row& row : c.rows) {
    const std::string values = page.left(row.label, kLabel) +
                               page.right(value_text(row.before, row.id, row.unit), kValue) +
                               page.right(value_text(row.after, row.id, row.unit), kValue);
    if (row.why.empty()) {
      page.line(values + page.right(row.factor ? factor(*row.factor) : "", kFactor));
    } else if (!row.before && !row.after) {
      const std::size_t room = page.prose_width() - kLabel - 2 - 3;
      page.line(page.left(row.label, kLabel) +
                page.paint(Ink::kDim, "  " + page.left("n/a (" + clean(row.why) + ")", room)));
    } else {
      const std::size_t room = page.prose_width() - kLabel - 2 * kValue - 2;
      page.line(values + page.paint(Ink::kDim, "  " + page.left("(" + clean(row.why) + ")", room)));
    }
  }
  write_promise(page, c);
  return page.text();
}

nlohmann::ordered_json side_json(const Comparison::Side& side) {
  const auto text = [](const std::string& value) {
    return value.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
  };
  return {{"run", text(side.run)}, {"command", text(side.command)}, {"fix", text(side.fix)}};
}

std::string comparison_json(const Comparison& c) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::object();
  for (const Comparison::Row& row : c.rows) {
    rows[row.id] = {{"before", json_or_null(row.before)},
                    {"after", json_or_null(row.after)},
                    {"factor", json_or_null(row.factor)},
                    {"why", row.why.empty() ? Json(nullptr) : Json(row.why)}};
  }
  const Json root = {{"schema", "fullbore.compare/1"},
                     {"outcome", word(c.outcome)},
                     {"before", side_json(c.before)},
                     {"after", side_json(c.after)},
                     {"basis", c.basis.empty() ? Json(nullptr) : Json(c.basis)},
                     {"factor", json_or_null(c.factor)},
                     {"low", json_or_null(c.low)},
                     {"high", json_or_null(c.high)},
                     {"bound", json_or_null(c.bound)},
                     {"predicted", json_or_null(c.predicted)},
                     {"predicted_low", json_or_null(c.predicted_low)},
                     {"predicted_high", json_or_null(c.predicted_high)},
                     {"prediction_error", prediction_error(c)},
                     {"cause", c.bound_cause.empty() ? Json(nullptr) : Json(c.bound_cause)},
                     {"rows", rows}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fullbore::report
