#include "observe/environment.h"

#include <fmt/format.h>

#include <array>

namespace fullbore::observe {
namespace {

constexpr std::array<std::string_view, 13> kRecorded = {
    "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",      "MKL_NUM_THREADS",  "OPENBLAS_NUM_THREADS", "RANK",
    "LOCAL_RANK",           "WORLD_SIZE",           "LOCAL_WORLD_SIZE", "SLURM_JOB_ID",         "SLURM_PROCID",
    "SLURM_CPUS_PER_TASK",  "OMPI_COMM_WORLD_RANK", "PMI_RANK",
};

constexpr std::string_view kInjection = "CUDA_INJECTION64_PATH";

void set(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string entry = fmt::format("{}={}", name, value);
  for (std::string& known : environment) {
    if (known.starts_with(fmt::format("{}=", name))) {
      known = entry;
      return;
    }
  }
  environment.push_back(entry);
}

}  // namespace

std::string_view environment_value(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string_view entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

std::vector<std::string> command_environment(const std::vector<std::string>& inherited, const HookEnvironment& hook) {
  std::vector<std::string> environment = inherited;
  if (hook.rings.empty()) return environment;
  set(environment, "FULLBORE_RINGS", hook.rings);
  set(environment, "FULLBORE_RECORD_LIB", hook.record_library);
  set(environment, "FULLBORE_HOOK", hook.hook_folder);
  set(environment, "FULLBORE_RING_BYTES", std::to_string(hook.ring_bytes));
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("FULLBORE_FIX="); });
  if (!hook.fix_file.empty()) set(environment, "FULLBORE_FIX", hook.fix_file);
  if (!hook.inject_library.empty() && environment_value(inherited, kInjection).empty()) {
    set(environment, kInjection, hook.inject_library);
  }
  // A trailing colon would put the working directory on the user's path: none if there was nothing to follow.
  const std::string_view users = environment_value(inherited, "PYTHONPATH");
  set(environment, "PYTHONPATH", users.empty() ? hook.hook_folder : fmt::format("{}:{}", hook.hook_folder, users));
  return environment;
}

std::map<std::string, std::string> recorded_environment(const std::vector<std::string>& environment) {
  std::map<std::string, std::string> recorded;
  for (const std::string_view name : kRecorded) {
    const std::string_view value = environment_value(environment, name);
    if (!value.empty()) recorded.emplace(name, value);
  }
  if (!environment_value(environment, "PYTHONPATH").empty()) recorded.emplace("PYTHONPATH", "set");
  return recorded;
}

}  // namespace fullbore::observe
