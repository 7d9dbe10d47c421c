// The step by the user's own lines: the rows a person recognises at once.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kRows = 7;
constexpr std::size_t kMs = 9;
constexpr std::size_t kShare = 9;
constexpr std::size_t kKind = 10;

// The kRows largest, back in the order of the source; `rest` gets the sum of the others.
std::vector<LineTime> shown(std::vector<LineTime> lines, Part& rest) {
  std::ranges::stable_sort(lines, std::greater{}, &LineTime::ms);
  for (std::size_t i = kRows; i < lines.size(); ++i) {
    rest.ms += lines[i].ms;
    rest.share += lines[i].share;
  }
  lines.resize(std::min(lines.size(), kRows));
  // What belongs to no line of the user's comes last.
  std::ranges::stable_sort(
      lines, {}, [](const LineTime& l) { return std::tuple(l.where.file.empty(), l.where.file, l.where.line); });
  return lines;
}

std::string first_line(const std::string& code) {
  const std::string text = clean(code);
  const std::size_t begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

Ink ink_of_kind(const std::string& kind) {
  if (kind == "wait") return Ink::kRed;
  return kind == "blocking" || kind == "pause" ? Ink::kYellow : Ink::kDim;
}

void write_view(Page& page, const std::string& title, const std::string& detail, const std::vector<LineTime>& lines,
                double step_ms) {
  if (lines.empty()) return;
  Part rest;
  const std::vector<LineTime> rows = shown(lines, rest);
  std::size_t places = 0;
  for (const LineTime& row : rows) places = std::max(places, columns_of(clean(place(row.where))));
  places = std::min(places, page.prose_width() / 3);
  const std::size_t code = page.prose_width() - 2 - places - 2 - kMs - kShare - 1 - kKind;
  page.heading(title, detail);
  for (const LineTime& row : rows) {
    page.line("  " + page.paint(Ink::kDim, page.left(clean(place(row.where)), places)) + "  " +
              page.left(row.where.file.empty() ? "(between lines)" : first_line(row.where.code), code) +
              page.right(milliseconds_of(row.ms, step_ms), kMs) + page.right(percent(row.share), kShare) + "  " +
              page.paint(ink_of_kind(row.kind), spaced(clean(row.kind))));
  }
  if (lines.size() > rows.size() && rest.share >= 0.0005) {
    page.line("  " + page.left("", places) + "  " +
              page.left(fmt::format("{} more lines", lines.size() - rows.size()), code) +
              page.right(milliseconds_of(rest.ms, step_ms), kMs) + page.right(percent(rest.share), kShare));
  }
}

}  // namespace

void write_lines(Page& page, const Diagnosis& d) {
  write_view(page, "Your training loop", "ms per step, by line", d.loop_lines, d.account.step_ms);
  write_view(page, "Your dataset", "ms per step, by line, all workers together", d.dataset_lines, d.account.step_ms);
}

}  // namespace fullbore::report
