#include "cli/describe_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/file_reader.h"
#include "cli/ceilings_cache.h"
#include "observe/environment.h"
#include "version.h"

namespace fullbore::cli {

std::vector<std::string> inherited_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

record::RunInfo describe_run(const std::vector<std::string>& command) {
  record::RunInfo info;
  info.fullbore_version = kVersion;
  info.command = command;
  std::error_code failed;
  info.working_directory = std::filesystem::current_path(failed).string();
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0) info.host = host;
  info.started_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  info.ceilings = known_ceilings(ceilings_path(), base::RealFiles(), std::getenv("CUDA_VISIBLE_DEVICES"));
  info.environment = observe::recorded_environment(inherited_environment());
  return info;
}

}  // namespace fullbore::cli
