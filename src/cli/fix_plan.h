// What --fix will do: from an earlier run's report, or left to the limits of the machine.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/run.h"
#include "diagnose/diagnosis.h"

namespace fullbore::cli {

struct FixRequest {
  std::string value;  // of --fix: "", "exact", or RUN
  std::vector<std::string> command;
  std::string working_directory;
  std::string runs_directory;
};

struct PlannedFix {
  FixPlan plan;
  std::string note;  // one line for the screen, "" for none
};

// Plain --fix takes the newest run of the same command and working directory that ran without a fix; a fixed run would
// only say that nothing is left to do. Fails if RUN cannot be read.
base::Expected<PlannedFix> plan_fix(const FixRequest& request);

// The settings that a report recommends, by loader. Of two causes that name the same setting the first wins.
std::vector<LoaderFix> recommended(const diagnose::Diagnosis& diagnosis);

}  // namespace fullbore::cli
