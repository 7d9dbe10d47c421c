// `fullbore run`: what the command line asks for, and the one call that does it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fullbore::cli {

// What --fix is to do. The limits of the machine are added where the run starts.
struct LoaderFix {
  std::string file;  // as the recorded loader gave it
  int line = 0;
  std::vector<std::pair<std::string, std::string>> settings;  // ("num_workers", "2")
};

struct FixPlan {
  std::string mode;                // "exact", "plain", "run"
  std::string from;                // folder of the run whose report is followed; "" with none
  std::vector<LoaderFix> loaders;  // only with "run"
};

struct RunOptions {
  std::string out;                     // --out; "": a new folder under ./fullbore-runs
  std::optional<std::int64_t> for_ns;  // --for
  std::optional<std::int64_t> steps;   // --steps
  bool stop = false;                   // --stop: the end of --for or --steps also ends the training
  bool quiet = false;
  bool hook = true;  // --no-hook: from the system alone
  std::optional<FixPlan> fix;
  std::vector<std::string> command;
  // Called once the run folder is complete: judges it, writes report.json and report.txt into it and shows the text.
  std::function<void(const std::string& folder)> report;
};

// Returns the exit code of the command; 125 if Fullbore could not start it, 126 if it cannot be executed, 127 if it is
// not there. Dies by the command's own signal if it did.
int run(const RunOptions& options);

}  // namespace fullbore::cli
