// The sections of the terminal report, each writing itself to the page or nothing at all. Private to src/report.
#pragma once

#include "diagnose/diagnosis.h"
#include "report/page.h"

namespace fullbore::report {

// Ink of a verdict or cause.
Ink ink_of(diagnose::Severity severity);

void write_account(Page& page, const diagnose::Diagnosis& diagnosis);
void write_input_wait(Page& page, const diagnose::Diagnosis& diagnosis);
void write_system(Page& page, const diagnose::Diagnosis& diagnosis);
void write_gpu(Page& page, const diagnose::Diagnosis& diagnosis);
void write_lines(Page& page, const diagnose::Diagnosis& diagnosis);
void write_causes(Page& page, const diagnose::Diagnosis& diagnosis);
void write_next_limit(Page& page, const diagnose::Diagnosis& diagnosis);
void write_fix(Page& page, const diagnose::Diagnosis& diagnosis);
void write_missing(Page& page, const diagnose::Diagnosis& diagnosis);
void write_overhead(Page& page, const diagnose::Diagnosis& diagnosis);
// A unified diff, indented, added and removed lines in colour.
void write_diff(Page& page, std::string_view diff, std::size_t indent);

}  // namespace fullbore::report
