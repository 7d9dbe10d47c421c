// What --fix did, what could not be measured, and what watching cost.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kIndent = 13;

std::string mode_text(const std::string& mode) {
  if (mode == "exact") return "exact: every random number stays as it was";
  if (mode == "plain") return "from the limits of this machine";
  return "from the report of " + clean(mode);
}

std::string nothing_changed(const std::string& mode) {
  if (mode == "exact" || mode == "plain") return "was changed: no torch DataLoader was made";
  return "was changed: no loader was made at the file and line for which that report has settings";
}

// "collector_cpu_share" -> {"collector cpu", "share"}: the names of overhead end in their unit.
std::pair<std::string, std::string> name_and_unit(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> kSuffixes = {{"_us_per_step", "us per step"},
                                                                             {"_us", "us"},
                                                                             {"_ms", "ms"},
                                                                             {"_mib_per_min", "MiB/min"},
                                                                             {"_mib", "MiB"},
                                                                             {"_share", "share"},
                                                                             {"_s", "s"},
                                                                             {"_bytes", "bytes"}};
  std::string unit;
  for (const auto& [suffix, text] : kSuffixes) {
    if (!name.ends_with(suffix)) continue;
    unit = text;
    name.resize(name.size() - suffix.size());
    break;
  }
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '.', ' ');
  return {name, unit};
}

}  // namespace

void write_fix(Page& page, const Diagnosis& d) {
  if (!d.fix) return;
  page.heading("Fix in this run", mode_text(d.fix->mode));
  if (d.fix->actions.empty()) page.prose("  nothing", kIndent, nothing_changed(d.fix->mode));
  for (const FixAction& action : d.fix->actions) {
    const auto& [name, before, after] = action.setting;
    const std::string setting = action.outcome == FixOutcome::kLeftAlone
                                    ? fmt::format("{}={}", name, before)
                                    : fmt::format("{}={} (was {})", name, after, before);
    const std::string reason = action.why.empty() ? "" : ": " + clean(action.why);
    page.prose("  " + std::string(word(action.outcome)), kIndent,
               fmt::format("{} at {}{}", clean(setting), clean(place(action.where)), reason));
  }
  if (!d.fix->random_streams.empty()) page.prose("  random", kIndent, clean(d.fix->random_streams));
  if (!d.fix->diff.empty()) {
    page.prose("  by hand", kIndent, "the same change in your code:");
    write_diff(page, d.fix->diff, kIndent);
  }
}

void write_missing(Page& page, const Diagnosis& d) {
  if (d.missing.empty()) return;
  page.heading("Not measured");
  std::size_t widest = 0;
  for (const Missing& m : d.missing) widest = std::max(widest, columns_of(clean(m.signal)));
  const std::size_t indent = std::min(widest + 4, page.prose_width() / 3);
  for (const Missing& m : d.missing) {
    const std::string label = "  " + clean(m.signal);
    if (columns_of(label) + 2 > indent) {
      page.line(page.paint(Ink::kDim, label));
      page.prose("", indent, clean(m.why));
    } else {
      page.prose(label, indent, clean(m.why));
    }
  }
}

void write_overhead(Page& page, const Diagnosis& d) {
  std::string text;
  for (const auto& [name, value] : d.overhead) {
    if (!value) continue;
    const auto [words, unit] = name_and_unit(name);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, with_unit(*value, unit));
  }
  if (text.empty()) return;
  page.blank();
  page.prose("watching cost", kIndent + 2, text);
}

}  // namespace fullbore::report
