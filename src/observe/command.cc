#include "observe/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace fullbore::observe {
namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// 0 if `file` can be run, else the errno that exec would give.
int cannot_run(const std::string& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

base::Error refuse(int error_number, const std::string& name) {
  struct stat status = {};
  if (::stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return base::Error::system(EISDIR, "cannot run " + name);
  }
  return base::Error::system(error_number, "cannot run " + name);
}

// Does the process's command line name `job`, as its program or as the script that an interpreter runs?
bool runs(const base::FileReader& files, const std::string& pid, std::string_view job) {
  const auto line = files.read("/proc/" + pid + "/cmdline");
  if (!line) return false;
  const std::vector<std::string> words = split(*line, '\0');
  const std::size_t looked_at = std::min<std::size_t>(words.size(), 3);
  return std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(looked_at),
                     [&](const std::string& word) { return !word.empty() && base_name(word) == job; });
}

struct Launcher {
  std::string_view program;
  std::string_view subcommand;  // "" for any
  std::string_view why;
  std::string_view instead;
};

constexpr std::array kLaunchers = {
    Launcher{"srun", "", "tasks are started by slurmstepd, maybe on other nodes",
             "srun ... fullbore run -- python train.py"},
    Launcher{"sbatch", "", "the job runs later, elsewhere", "fullbore run -- python train.py, inside the batch script"},
    Launcher{"ray", "job", "the job is started by the Ray cluster",
             "ray job submit ... -- fullbore run -- python train.py"},
    Launcher{"docker", "run", "the container does not get our environment",
             "docker run ... IMAGE fullbore run -- python train.py"},
    Launcher{"docker", "exec", "the container does not get our environment",
             "docker exec ... CONTAINER fullbore run -- python train.py"},
    Launcher{"podman", "run", "the container does not get our environment",
             "podman run ... IMAGE fullbore run -- python train.py"},
    Launcher{"kubectl", "", "the pod does not get our environment",
             "kubectl exec ... -- fullbore run -- python train.py"},
    Launcher{"ssh", "", "the other machine does not get our environment", "ssh HOST fullbore run -- python train.py"},
    Launcher{"sudo", "", "sudo clears the environment", "sudo ... fullbore run -- python train.py"},
};

}  // namespace

base::Expected<std::string> find_program(const std::string& name, std::string_view path) {
  if (name.empty()) return std::unexpected(base::Error::system(ENOENT, "cannot run \"\""));
  if (name.find('/') != std::string::npos) {
    const int error_number = cannot_run(name);
    if (error_number == 0) return name;
    return std::unexpected(refuse(error_number, name));
  }
  int kept = ENOENT;
  for (const std::string& folder : split(path, ':')) {
    std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    const int error_number = cannot_run(file);
    if (error_number == 0) return file;
    if (error_number == EACCES) kept = EACCES;
  }
  return std::unexpected(base::Error::system(kept, "cannot run " + name));
}

std::string running_job(const std::vector<std::string>& command, const base::FileReader& files) {
  if (command.size() != 1) return "";
  const std::string& job = command[0];
  constexpr std::string_view kWayOut =
      "a job that runs already cannot be watched; start it with: fullbore run -- COMMAND";
  if (all_digits(job)) {
    const bool lives = files.read("/proc/" + job + "/stat").has_value();
    return fmt::format("{} is {}, not a command: {}", job, lives ? "a process id" : "a number", kWayOut);
  }
  const auto entries = files.list("/proc");
  if (!entries || job.find('/') != std::string::npos) return "";
  const std::string own = fmt::format("{}", ::getpid());
  for (const std::string& pid : *entries) {
    if (!all_digits(pid) || pid == own || !runs(files, pid, job)) continue;
    return fmt::format("{} is the name of a running job (process {}): {}", job, pid, kWayOut);
  }
  return "";
}

std::string lost_environment(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  for (const Launcher& launcher : kLaunchers) {
    if (base_name(command[0]) != launcher.program) continue;
    if (!launcher.subcommand.empty() && std::ranges::find(command, launcher.subcommand) == command.end()) continue;
    if (std::ranges::find(command, "fullbore") != command.end()) continue;
    return fmt::format("{} hides the training from fullbore ({}); use: {}", launcher.program, launcher.why,
                       launcher.instead);
  }
  return "";
}

bool ignores_hook(const std::vector<std::string>& command, std::string& flag) {
  if (command.empty() || !base_name(command[0]).starts_with("python")) return false;
  for (std::size_t i = 1; i < command.size() && command[i].starts_with('-'); ++i) {
    const std::string& word = command[i];
    if (word.starts_with("--") || word == "-c" || word == "-m") break;
    if (word.find_first_of("IES", 1) == std::string::npos || word[1] == 'X' || word[1] == 'W') continue;
    flag = word;
    return true;
  }
  return false;
}

std::string shell_line(const std::vector<std::string>& command) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  std::vector<std::string> words;
  for (const std::string& word : command) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      words.push_back(word);
      continue;
    }
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    words.push_back(quoted + "'");
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace fullbore::observe
