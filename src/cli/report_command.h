// `fullbore report`, and the report at the end of `fullbore run`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "diagnose/diagnosis.h"

namespace fullbore::cli {

// Exit codes of `report`, documented in docs/report.md. The higher one wins.
inline constexpr int kUsage = 2;
inline constexpr int kLimitExceeded = 3;
inline constexpr int kNotMeasured = 4;

struct ReportOptions {
  std::vector<std::string> runs;  // RUN..., resolved
  bool json = false;
  bool redact = false;
  std::vector<std::string> fail_above;  // "input_wait=5%"
};

base::Expected<diagnose::Diagnosis> judge(const std::string& folder);

// To stdout. Several runs are the hosts of one job: each is judged by itself, never averaged.
int report(const ReportOptions& options);

struct RunReportOptions {
  bool quiet = false;
  std::string file;                          // the text goes there instead of stderr
  std::map<std::string, std::string> cells;  // text by name of source that is in no file
};

// Judges a run that has just ended, writes source.json, report.json and report.txt into its folder and shows the text.
// Whatever fails is said in one line; the command's exit code is not touched.
void report_run(const std::string& folder, const RunReportOptions& options);

}  // namespace fullbore::cli
