// `fullbore run`: starts the training command as it would start by itself, with the hook in its environment and the
// collector beside it. Whatever of ours fails after that, the command goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/collector_process.h"
#include "observe/fix_plan.h"
#include "record/run.h"

namespace fullbore::observe {

inline constexpr int kCannotStart = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

struct LaunchOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value", as inherited
  std::string folder;                    // of the run; must not exist
  std::optional<std::chrono::nanoseconds> watch_for;
  std::optional<std::uint64_t> steps;
  bool stop = false;  // SIGINT to the training when the observation ends
  bool quiet = false;
  bool hook = true;
  std::string record_library;  // absolute paths
  std::string hook_folder;
  std::string inject_library;  // need not be there: without it the GPU is seen from outside only
  std::optional<FixPlan> fix;
  record::RunInfo info;  // command, host and the like; what happens is filled in
  // Called in a child process with the run folder when the observation has ended; may take its time, or crash.
  std::function<void(const std::string& folder)> report;
  MakeSamplers make_samplers;
};

// Returns an exit code if the command did not start (the reason is on stderr); otherwise ends this process as the
// command ended and does not return. No other thread may run.
int launch(LaunchOptions options);

// One line of ours on stderr.
void say(const std::string& text);

}  // namespace fullbore::observe
