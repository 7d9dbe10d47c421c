// report.json (schema fullbore.report/1, docs/report.schema.json): the same verdict for machines. Every key is always
// there; what was not measured is null, never 0.
#pragma once

#include <string>

#include "diagnose/diagnosis.h"

namespace fullbore::report {

// Deterministic: the same diagnosis gives the same bytes. Numbers carry six significant digits. Ends in a newline.
std::string to_json(const diagnose::Diagnosis& diagnosis);

}  // namespace fullbore::report
