// `--fail-above input_wait=5%`: a number of the report held to a limit, for CI. A number that was not measured never
// counts as passed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "diagnose/diagnosis.h"

namespace fullbore::report {

struct Limit {
  std::string name;  // part of the account, or mean_ms, p50_ms, p99_ms
  double above = 0;
  bool is_share = false;  // `above` is a share (0.05), else ms per step
};

// "input_wait=5%", "checkpoint=3ms", "p99_ms=200". Fails on an unknown name or a limit that is no number.
base::Expected<Limit> parse_limit(std::string_view text);

// Nothing if it was not measured.
std::optional<double> measured(const diagnose::Diagnosis& diagnosis, const Limit& limit);

// "input_wait is 61.2 %, above the limit of 5.0 %"
std::string exceeded_text(const Limit& limit, double value);

}  // namespace fullbore::report
