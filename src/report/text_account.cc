// The account as bars, and the input wait by what the batch was waiting for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kLabel = 16;
constexpr std::size_t kMs = 11;
constexpr std::size_t kShare = 9;
constexpr std::size_t kWidestBar = 60;
constexpr std::size_t kWaitBar = 20;
// Below this a share prints as 0.0 %.
constexpr double kVisible = 0.0005;
// The whole account is shown where one of its parts is this far from the steady one.
constexpr double kDiffers = 0.03;

struct Row {
  std::string name;
  Part part;
};

// The part of a step that a cause lives in: the row that gets the arrow.
std::string guilty_part(const std::string& cause) {
  if (cause == "compute_bound" || cause == "insufficient_data") return "";
  for (const char* part : {"checkpoint", "validation", "logging", "gc"}) {
    if (cause == std::string(part) + "_pause") return part;
  }
  if (cause == "host_sync") return "host_sync";
  if (cause == "launch_bound" || cause == "launcher_starved" || cause == "small_batch") return "launch";
  if (cause == "collective_bound" || cause.starts_with("rank_")) return "collective_wait";
  if (cause.ends_with("_copy") || cause == "small_copies" || cause == "wide_dtype" || cause.starts_with("link_"))
    return "h2d_exposed";
  return "input_wait";
}

// Largest first, "unknown" last and always there; parts that would print as 0.0 % are left out.
std::vector<Row> rows_of(const Account& account) {
  std::vector<Row> rows;
  for (const auto& [id, part] : account.parts) {
    if (id != "unknown" && part.share >= kVisible) rows.push_back({id, part});
  }
  std::ranges::stable_sort(rows, std::greater{}, [](const Row& row) { return row.part.share; });
  const auto unknown = account.parts.find("unknown");
  if (unknown != account.parts.end()) rows.push_back({unknown->first, unknown->second});
  return rows;
}

std::size_t bar_columns(const Page& page) {
  return std::min(kWidestBar, page.prose_width() - 2 - kLabel - kMs - kShare - 2);
}

void write_bars(Page& page, const Account& account, const std::string& guilty, Ink ink) {
  for (const Row& row : rows_of(account)) {
    const bool is_guilty = row.name == guilty;
    const Ink row_ink = is_guilty ? ink : Ink::kPlain;
    page.line("  " + page.left(spaced(row.name), kLabel) +
              page.paint(row_ink, page.bar(row.part.share, bar_columns(page))) +
              page.right(milliseconds_of(row.part.ms, account.step_ms) + " ms", kMs) +
              page.right(percent(row.part.share), kShare) + (is_guilty ? " " + page.paint(row_ink, page.arrow()) : ""));
    if (row.name != "other") continue;
    for (const auto& [name, part] : account.other) {
      if (part.share < kVisible) continue;
      const std::string text = fmt::format("{} {} ms", clean(name), milliseconds_of(part.ms, account.step_ms));
      page.line(page.paint(Ink::kDim, "    " + text));
    }
  }
}

bool differs(const Account& steady, const Account& whole) {
  for (const auto& [id, part] : whole.parts) {
    const auto other = steady.parts.find(id);
    if (std::abs(part.share - (other == steady.parts.end() ? 0 : other->second.share)) >= kDiffers) return true;
  }
  return false;
}

std::string step_facts(const Page& page, const Steps& steps) {
  std::vector<std::string> facts;
  if (steps.p50_ms) facts.push_back("p50 " + milliseconds(*steps.p50_ms));
  if (steps.p99_ms) facts.push_back("p99 " + milliseconds(*steps.p99_ms));
  if (steps.samples_per_s) facts.push_back(number(*steps.samples_per_s) + " samples/s");
  if (steps.epoch_hours) facts.push_back(epoch_time(*steps.epoch_hours) + " per epoch");
  facts.push_back(fmt::format("{} steps judged", number(static_cast<double>(steps.count))));
  std::string text;
  for (const std::string& fact : facts) {
    const std::string more = text.empty() ? fact : fmt::format(" {} {}", page.dot(), fact);
    if (columns_of(text) + columns_of(more) + 26 <= page.prose_width()) text += more;
  }
  return text;
}

// "97 % on CPU, 3 % blocked"
std::string split_text(const InputWaitPart& part) {
  std::string text;
  const auto add = [&text](const std::optional<double>& share, std::string_view what) {
    if (share && *share >= 0.01) text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * *share, what);
  };
  add(part.on_cpu, "on CPU");
  add(part.runnable, "waiting for a core");
  add(part.blocked, "blocked");
  return text;
}

}  // namespace

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::kNone:
      return Ink::kBold;
    case Severity::kNote:
      return Ink::kCyan;
    case Severity::kWarning:
      return Ink::kYellow;
    case Severity::kCritical:
      return Ink::kRed;
  }
  return Ink::kBold;
}

void write_account(Page& page, const Diagnosis& d) {
  const std::string guilty = guilty_part(d.verdict.cause);
  const Ink ink = ink_of(d.verdict.severity);
  if (!d.account.parts.empty()) {
    page.heading(fmt::format("Step of {} ms", milliseconds(d.account.step_ms)), step_facts(page, d.steps));
    write_bars(page, d.account, guilty, ink);
  }
  if (!d.whole.parts.empty() && (d.account.parts.empty() || differs(d.account, d.whole))) {
    page.heading(fmt::format("Whole run, {} ms per step", milliseconds(d.whole.step_ms)),
                 "with epoch edges, checkpoints and validation");
    write_bars(page, d.whole, guilty, ink);
  }
}

void write_input_wait(Page& page, const Diagnosis& d) {
  std::vector<InputWaitPart> parts;
  std::ranges::copy_if(d.input_wait, std::back_inserter(parts), [](const auto& p) { return p.part.share >= kVisible; });
  if (parts.empty()) return;
  std::ranges::stable_sort(parts, std::greater{}, [](const InputWaitPart& p) { return p.part.ms; });
  page.heading("Input wait", "by what the batch was in meanwhile, of the step");
  const std::size_t columns = std::min(kWaitBar, bar_columns(page));
  for (const InputWaitPart& p : parts) {
    const std::string row = page.left(spaced(clean(p.what)), kLabel) + page.bar(p.part.share, columns) +
                            page.right(milliseconds_of(p.part.ms, d.account.step_ms) + " ms", kMs) +
                            page.right(percent(p.part.share), kShare);
    const std::string split = split_text(p);
    const bool has_room = 4 + columns_of(row) + columns_of(split) <= page.prose_width();
    page.line("  " + row + (has_room ? "  " + page.paint(Ink::kDim, split) : ""));
  }
}

}  // namespace fullbore::report
