// The report for the terminal: what a tired person understands in ten seconds. First the verdict in one sentence, then
// the step in bars and in the user's own lines, then at most three causes with what to change.
#pragma once

#include <string>

#include "diagnose/diagnosis.h"
#include "report/page.h"

namespace fullbore::report {

// Deterministic. Prints nothing that was not measured; what is missing is listed with its reason.
std::string terminal_text(const diagnose::Diagnosis& diagnosis, const TextOptions& options);

}  // namespace fullbore::report
