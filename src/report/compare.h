// Before and after: what a change really gained, beside what the first report promised, and with the spread that tells
// a gain from noise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "report/page.h"

namespace fullbore::report {

struct CompareOptions {
  std::optional<double> price_per_hour;  // of the machine, in the user's own currency
};

// One quantity of both runs. `factor` is how many times better the second is: above 1 is good, whichever way it counts.
struct Comparison {
  struct Row {
    std::string id;  // "samples_per_s"
    std::string label;
    std::string unit;
    std::optional<double> before, after;
    std::optional<double> factor;
    std::string why;  // of what is absent
  };
  enum class Outcome { kFaster, kSlower, kUnchanged, kUnknown };

  struct Side {
    std::string run, command;  // folder and what was watched
    std::string fix;           // that the run was started with, "" for none
  };

  Side before, after;
  std::vector<Row> rows;
  Outcome outcome = Outcome::kUnknown;
  std::optional<double> factor, low, high;  // of the step time, 95 % interval where spread is known
  std::string basis;                        // "steady" or "whole": which step time `factor` is of
  std::optional<double> bound, predicted;   // of the first report
  std::optional<double> predicted_low, predicted_high;
  std::string bound_cause;
  bool as_recommended = false;  // the second run was started with --fix=FIRST, which applies what was predicted
};

// Why the two runs did not do the same work ("batch size 64 and 128"), empty if they did as far as can be told.
std::vector<std::string> differences(const diagnose::Diagnosis& before, const diagnose::Diagnosis& after);

Comparison compare(const diagnose::Diagnosis& before, const diagnose::Diagnosis& after, const CompareOptions& options);

// One sentence: gained, lost, or nothing.
std::string outcome_text(const Comparison& comparison);
std::string comparison_text(const Comparison& comparison, const TextOptions& options);
std::string comparison_json(const Comparison& comparison);  // schema fullbore.compare/1

}  // namespace fullbore::report
