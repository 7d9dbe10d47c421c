#include "report/text.h"

#include <fmt/format.h>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {

using namespace diagnose;

namespace {

void write_verdict(Page& page, const Diagnosis& d) {
  const bool is_good = d.verdict.severity == Severity::kNone && d.verdict.cause != "insufficient_data";
  page.prose("", 0, clean(d.verdict.summary), is_good ? Ink::kGreen : ink_of(d.verdict.severity));
  if (d.verdict.confidence != Confidence::kHigh) {
    page.prose("", 0,
               fmt::format("Confidence is {}: {}.", word(d.verdict.confidence), clean(d.verdict.confidence_why)));
  }
  if (!d.changed_at.empty()) page.prose("", 0, "The run changed on the way: " + clean(d.changed_at) + ".");
  if (d.signal) {
    page.prose("", 0, fmt::format("The command was ended by signal {}.", *d.signal));
  } else if (d.exit_code.value_or(0) != 0) {
    page.prose("", 0, fmt::format("The command ended with exit code {}.", *d.exit_code));
  }
}

}  // namespace

std::string terminal_text(const Diagnosis& diagnosis, const TextOptions& options) {
  Page page(options);
  write_verdict(page, diagnosis);
  write_account(page, diagnosis);
  write_system(page, diagnosis);
  write_gpu(page, diagnosis);
  write_lines(page, diagnosis);
  write_input_wait(page, diagnosis);
  write_causes(page, diagnosis);
  write_next_limit(page, diagnosis);
  write_fix(page, diagnosis);
  write_missing(page, diagnosis);
  write_overhead(page, diagnosis);
  return page.text();
}

}  // namespace fullbore::report
