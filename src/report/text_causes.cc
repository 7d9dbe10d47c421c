// At most three causes, each with its evidence, one change, what that can gain and what it risks.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kIndent = 13;  // "   evidence  "
constexpr std::size_t kMostEvidence = 5;

std::string gain_text(const Gain& gain) {
  std::string text;
  if (gain.predicted) {
    text = "predicted " + factor(*gain.predicted);
    if (gain.low && gain.high) text += fmt::format(" ({} to {})", factor(*gain.low), factor(*gain.high));
    if (!gain.with.empty()) text += " " + clean(gain.with);
  }
  if (gain.max) text += fmt::format("{}at most {} (bound)", text.empty() ? "" : "; ", factor(*gain.max));
  return text;
}

void write_evidence(Page& page, const std::vector<Evidence>& evidence) {
  const std::size_t rows = std::min(evidence.size(), kMostEvidence);
  std::size_t metric = 0;
  std::size_t value = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    metric = std::max(metric, columns_of(clean(evidence[i].metric)));
    value = std::max(value, columns_of(with_unit(evidence[i].value, evidence[i].unit)));
  }
  metric = std::min(metric, page.prose_width() - kIndent - std::min<std::size_t>(value, 20) - 4);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string label =
        i == 0 ? "   " + page.paint(Ink::kDim, page.left("evidence", kIndent - 3)) : std::string(kIndent, ' ');
    const std::string numbers = page.left(clean(evidence[i].metric), metric) + "  " +
                                page.right(with_unit(evidence[i].value, evidence[i].unit), value);
    const std::string source = clean(evidence[i].source);
    const bool has_room = kIndent + columns_of(numbers) + 2 + columns_of(source) <= page.prose_width();
    page.line(label + numbers + (has_room ? "  " + page.paint(Ink::kDim, source) : ""));
  }
}

void write_cause(Page& page, const Cause& cause, std::size_t rank, const std::string& verdict) {
  page.blank();
  std::string title = fmt::format("{}  {}", rank, clean(cause.cause));
  if (!cause.stage.empty()) title += fmt::format(" {} {}", page.dot(), spaced(clean(cause.stage)));
  // A cause without a severity is no loss ("compute_bound"): nothing to count.
  const std::string cost = cause.cost.empty() ? percent(cause.share) + " of the step" : clean(cause.cost);
  const std::string loss = cause.severity == Severity::kNone
                               ? ""
                               : fmt::format(" {} {} {} {}", page.dot(), word(cause.severity), page.dot(), cost);
  page.line(page.paint(ink_of(cause.severity), title) + page.paint(Ink::kDim, loss));
  if (!cause.summary.empty() && cause.summary != verdict) page.prose("", 3, clean(cause.summary));
  write_evidence(page, cause.evidence);
  if (!cause.fix.text.empty()) page.prose("   change", kIndent, clean(cause.fix.text), Ink::kBold);
  write_diff(page, cause.fix.diff, kIndent);
  const std::string gain = gain_text(cause.gain);
  if (!gain.empty()) page.prose("   gain", kIndent, gain);
  if (!cause.fix.risk.empty()) page.prose("   risk", kIndent, clean(cause.fix.risk));
  for (const std::string& why : cause.why_not)
    page.prose(&why == &cause.why_not.front() ? "   why not" : "", kIndent, clean(why));
  // A command is for pasting: it keeps its line whatever the width.
  if (!cause.fix.next_command.empty()) {
    page.line("   " + page.paint(Ink::kDim, page.left("next", kIndent - 3)) +
              page.paint(Ink::kCyan, clean(cause.fix.next_command)));
  }
}

std::string limit_words(const NextLimit& next) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"model", "the training step itself"},
      {"storage", "the device that the data lie on"},
      {"cores", "the cores that the job may use"},
      {"no_workers", "making batches in the main process"},
      {"pin_thread", "the thread that pins batches"},
      {"workers", "the number of workers"},
      {"order", "slow batches, with finished ones in line behind them"},
      {"handoff", "handing batches over"}};
  for (const auto& [id, words] : kWords) {
    if (id == next.limit) return std::string(words);
  }
  return next.limit;
}

// Of the step with the first cause's change, as the replay has it.
void write_replayed_limit(Page& page, const NextLimit& next) {
  std::string text =
      fmt::format("{}; after the first change a step would take {} ms", limit_words(next), milliseconds(next.step_ms));
  if (next.limit != "model") text += fmt::format(" and still wait {} of it", percent(next.wait_share));
  page.blank();
  page.prose("next limit", kIndent, text);
}

void write_pair(Page& page, const Pair& pair) {
  page.blank();
  page.prose("together", kIndent,
             fmt::format("{} and {}: {}", clean(pair.first), clean(pair.second), gain_text(pair.gain)));
}

// Why the gains are bounds.
void write_no_replay(Page& page, const ReplayFacts& replay) {
  page.blank();
  page.prose("", 0, fmt::format("No gain is predicted, only bounded: {}.", clean(replay.why)), Ink::kDim);
}

}  // namespace

void write_diff(Page& page, std::string_view diff, std::size_t indent) {
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string row = clean(diff.substr(0, end).substr(0, diff.substr(0, end).find('\r')));
    const bool is_header = row.starts_with("---") || row.starts_with("+++") || row.starts_with("@@");
    const Ink ink = is_header              ? Ink::kDim
                    : row.starts_with('+') ? Ink::kGreen
                    : row.starts_with('-') ? Ink::kRed
                                           : Ink::kPlain;
    page.line(std::string(indent, ' ') + page.paint(ink, row));
    diff.remove_prefix(std::min(end + 1, diff.size()));
  }
}

void write_causes(Page& page, const Diagnosis& d) {
  for (std::size_t i = 0; i < std::min(d.causes.size(), kMostCauses); ++i)
    write_cause(page, d.causes[i], i + 1, d.verdict.summary);
}

void write_next_limit(Page& page, const Diagnosis& d) {
  if (d.replay.pair) write_pair(page, *d.replay.pair);
  if (d.replay.next) return write_replayed_limit(page, *d.replay.next);
  const bool bounded = !d.causes.empty() && d.causes[0].severity != Severity::kNone && d.causes[0].gain.max &&
                       !d.causes[0].gain.predicted;
  if (bounded && !d.replay.why.empty()) write_no_replay(page, d.replay);
  // With a second cause the list says it already.
  if (d.causes.size() != 1 || d.causes[0].severity == Severity::kNone) return;
  const Part* largest = nullptr;
  std::string name;
  for (const auto& [id, part] : d.account.parts) {
    const bool judged = id == "input_wait" || d.causes[0].cause.starts_with(id);  // "host_sync", "gc_pause"
    if (judged || id == "unknown" || (largest && part.ms <= largest->ms)) continue;
    largest = &part;
    name = id;
  }
  if (!largest) return;
  page.blank();
  page.prose("next limit", kIndent, fmt::format("{}, {} ms of each step", spaced(name), milliseconds(largest->ms)));
}

}  // namespace fullbore::report
