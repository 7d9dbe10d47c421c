#include "cli/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <random>

#include "cli/describe_run.h"
#include "cli/limits.h"
#include "observe/environment.h"
#include "observe/launcher.h"
#include "observe/samplers/all_samplers.h"

namespace fullbore::cli {
namespace {

namespace fs = std::filesystem;

// Not guessable, so nobody can prepare a link where the folder will be.
std::string new_run_folder() {
  std::random_device random;
  return fmt::format("fullbore-runs/{:%Y%m%dT%H%M%SZ}-{}-{:08x}", fmt::gmtime(std::time(nullptr)), ::getpid(),
                     random());
}

std::string absolute(const std::string& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(path, failed);
  return failed ? path : full.lexically_normal().string();
}

// bin/fullbore, lib/libfullbore_*.so and hook/ are neighbours, in the build tree as when installed.
std::string package_path(const char* relative) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return (program.parent_path().parent_path() / relative).string();
}

observe::FixPlan full_plan(const FixPlan& asked) {
  observe::FixPlan plan = machine_limits(base::RealFiles());
  plan.mode = asked.mode;
  plan.from = asked.from;
  for (const LoaderFix& loader : asked.loaders) {
    plan.loaders.push_back({absolute(loader.file), loader.line, {loader.settings.begin(), loader.settings.end()}});
  }
  return plan;
}

}  // namespace

int run(const RunOptions& options) {
  if (options.command.empty()) {
    observe::say("no command to run: fullbore run -- COMMAND");
    return observe::kCannotStart;
  }
  observe::LaunchOptions launch;
  launch.command = options.command;
  launch.environment = inherited_environment();
  launch.folder = absolute(options.out.empty() ? new_run_folder() : options.out);
  if (options.for_ns) launch.watch_for = std::chrono::nanoseconds(*options.for_ns);
  if (options.steps) launch.steps = static_cast<std::uint64_t>(*options.steps);
  launch.stop = options.stop;
  launch.quiet = options.quiet;
  launch.hook = options.hook;
  launch.record_library = package_path("lib/libfullbore_record.so");
  launch.hook_folder = package_path("hook");
  launch.inject_library = package_path("lib/libfullbore_inject.so");
  launch.info = describe_run(options.command);
  if (options.fix) {
    launch.fix = full_plan(*options.fix);
    launch.info.fix = options.fix->mode == "run" ? options.fix->from : options.fix->mode;
  }
  launch.report = options.report;
  launch.make_samplers = observe::make_samplers;
  return observe::launch(std::move(launch));
}

}  // namespace fullbore::cli
