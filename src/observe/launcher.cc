#include "observe/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "observe/command.h"
#include "observe/descriptors.h"
#include "observe/environment.h"
#include "observe/follower.h"
#include "observe/ring_directory.h"
#include "observe/spawn.h"

namespace fullbore::observe {
namespace {

// Exit code for a command that cannot run, after one line that says so.
int cannot_run(const std::string& command, const base::Error& error) {
  if (error.error_number() == ENOENT) {
    const bool there = command.find('/') != std::string::npos && std::filesystem::exists(command);
    const bool script = command.ends_with(".py");
    say(there ? command + ": the interpreter that its first line names was not found"
              : command + ": command not found" +
                    (script ? "; a script runs as: fullbore run -- python " + command : ""));
    return kNotFound;
  }
  say(error.message());
  return kNotExecutable;
}

// 0 if the command can be started.
int check_command(const LaunchOptions& options, const base::FileReader& files) {
  const auto program = find_program(options.command[0], environment_value(options.environment, "PATH"));
  if (program) return 0;
  const std::string job = program.error().error_number() == ENOENT ? running_job(options.command, files) : "";
  if (job.empty()) return cannot_run(options.command[0], program.error());
  say(job);
  return kCannotStart;
}

// Why the hook stays out of the command, "" if nothing keeps it out.
std::string no_hook_reason(const LaunchOptions& options) {
  if (!options.hook) return "left out by --no-hook";
  // A variable whose folder is gone is left over from an observation that has ended.
  const std::string outer(environment_value(options.environment, "FULLBORE_RINGS"));
  if (!outer.empty() && ::access(outer.c_str(), F_OK) == 0) {
    return "another fullbore is watching this command already and keeps its hook";
  }
  if (::access(options.record_library.c_str(), R_OK) != 0) return options.record_library + " cannot be read";
  const std::string hook = options.hook_folder + "/sitecustomize.py";
  return ::access(hook.c_str(), R_OK) == 0 ? "" : hook + " cannot be read";
}

// A folder for rings, unless the hook stays out or there is no place; then run.json says why.
std::optional<RingDirectory> make_rings(LaunchOptions& options, const base::FileReader& files) {
  const std::string reason = no_hook_reason(options);
  if (!reason.empty()) {
    options.info.missing.emplace_back("hook", reason);
    return std::nullopt;
  }
  const auto parents = ring_parents(environment_value(options.environment, "XDG_RUNTIME_DIR"));
  remove_stale_ring_directories(parents, files);
  auto rings = RingDirectory::create(parents, files);
  if (rings) return std::move(*rings);
  options.info.missing.emplace_back("hook", rings.error().message());
  return std::nullopt;
}

// Path of the plan for --fix, "" without one.
std::string write_fix(LaunchOptions& options, const std::string& rings) {
  if (!options.fix) return "";
  std::string path = rings + "/fix.json";
  const std::string text = to_json(*options.fix);
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return path;
  options.info.missing.emplace_back("fix", base::Error::system(errno, "cannot write " + path).message());
  return "";
}

// WSL has its GPU behind /dev/dxg. Without a driver every process that imports torch would load the tracer for nothing.
bool has_nvidia_driver() {
  constexpr const char* kSigns[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"};
  return std::ranges::any_of(kSigns, [](const char* path) { return ::access(path, F_OK) == 0; });
}

// The library that traces the GPU, "" if it stays out; then run.json says why, unless there is no GPU to trace.
std::string inject_library(LaunchOptions& options) {
  const std::string_view other = environment_value(options.environment, "CUDA_INJECTION64_PATH");
  if (!other.empty() && other != options.inject_library) {
    options.info.missing.emplace_back("gpu.trace", "CUDA_INJECTION64_PATH is set to " + std::string(other) +
                                                       ", whose tool keeps CUPTI; unset it to have the GPU traced");
    return "";
  }
  if (!has_nvidia_driver()) return "";
  if (::access(options.inject_library.c_str(), R_OK) == 0) return options.inject_library;
  options.info.missing.emplace_back(
      "gpu.trace", options.inject_library + " cannot be read; this fullbore was built with FULLBORE_GPU=none");
  return "";
}

HookEnvironment hook_environment(LaunchOptions& options, const std::optional<RingDirectory>& rings) {
  if (!rings) {
    if (options.fix) options.info.missing.emplace_back("fix", "settings are applied by the hook, which is not there");
    return {};
  }
  return {rings->path(),
          options.record_library,
          options.hook_folder,
          rings->ring_bytes(),
          write_fix(options, rings->path()),
          inject_library(options)};
}

int cannot_start(const base::Error& error) {
  say(error.message());
  return kCannotStart;
}

// Nothing ran: leave nothing behind.
void remove_run_folder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void say(const std::string& text) {
  const std::string line = "fullbore: " + text + "\n";
  write_to(STDERR_FILENO, line.data(), line.size());
}

int launch(LaunchOptions options) {
  hold_closed_streams();
  const base::RealFiles files;
  const base::MonotonicClock clock;
  if (const int refused = check_command(options, files)) return refused;
  auto writer = record::RunWriter::create({.folder = options.folder}, clock);
  if (!writer) return cannot_start(writer.error());
  auto rings = make_rings(options, files);
  const auto environment = command_environment(options.environment, hook_environment(options, rings));
  options.info.start_ns = clock.now_ns();
  if (const auto written = writer->write_info(options.info); !written) {
    remove_run_folder(options.folder);
    return cannot_start(written.error());
  }
  const InheritedSignals inherited = take_over_signals();
  auto collector = CollectorProcess::start(
      {rings ? rings->path() : "", options.steps, options.info, options.make_samplers}, *writer);
  if (!collector) {
    remove_run_folder(options.folder);
    return cannot_start(collector.error());
  }
  if (!options.quiet) {
    const std::string lost = lost_environment(options.command);
    if (!lost.empty()) say(lost);
    say("watching, run folder " + options.folder);
  }
  const auto command = spawn(options.command, environment, inherited);
  if (!command) {
    collector->kill();
    remove_run_folder(options.folder);
    return cannot_run(options.command[0], command.error());
  }
  // Held by us they would keep a pipe open that the command closes.
  replace_by_null(STDIN_FILENO);
  replace_by_null(STDOUT_FILENO);
  collector->watch(static_cast<std::uint32_t>(*command));
  const std::string rings_path = rings ? rings->path() : "";
  if (rings) rings->disown();
  Follower follower(options, *writer, std::move(*collector), rings_path, *command, inherited);
  end_like(follower.follow());
}

}  // namespace fullbore::observe
