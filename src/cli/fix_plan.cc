#include "cli/fix_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report_command.h"
#include "cli/run_folders.h"

namespace fullbore::cli {
namespace {

LoaderFix& fix_of(std::vector<LoaderFix>& fixes, const diagnose::Location& where) {
  const auto found =
      std::ranges::find_if(fixes, [&](const LoaderFix& f) { return f.file == where.file && f.line == where.line; });
  if (found != fixes.end()) return *found;
  return fixes.emplace_back(LoaderFix{where.file, where.line, {}});
}

base::Expected<PlannedFix> plan_from(const std::string& folder) {
  const auto diagnosis = judge(folder);
  if (!diagnosis) return std::unexpected(diagnosis.error());
  PlannedFix planned{{"run", folder, recommended(*diagnosis)}, ""};
  std::size_t settings = 0;
  for (const LoaderFix& loader : planned.plan.loaders) settings += loader.settings.size();
  planned.note = settings > 0
                     ? fmt::format("applying {} of the report of {}",
                                   settings == 1 ? "the one setting" : fmt::format("the {} settings", settings), folder)
                     : fmt::format("the report of {} has no setting to apply ({}); running as it is", folder,
                                   diagnosis->verdict.cause);
  return planned;
}

}  // namespace

std::vector<LoaderFix> recommended(const diagnose::Diagnosis& diagnosis) {
  std::vector<LoaderFix> fixes;
  for (const diagnose::Cause& cause : diagnosis.causes) {
    if (!cause.fix.where) continue;
    for (const diagnose::Setting& setting : cause.fix.settings) {
      auto& settings = fix_of(fixes, *cause.fix.where).settings;
      const bool is_known =
          std::ranges::find(settings, setting.name, &std::pair<std::string, std::string>::first) != settings.end();
      if (!is_known) settings.emplace_back(setting.name, setting.after);
    }
  }
  return fixes;
}

base::Expected<PlannedFix> plan_fix(const FixRequest& request) {
  if (request.value == "exact") return PlannedFix{{"exact", "", {}}, ""};
  if (!request.value.empty()) {
    const auto folder = resolve_run(request.value, request.runs_directory);
    if (!folder) return std::unexpected(folder.error());
    return plan_from(*folder);
  }
  for (const RunFolder& run : list_runs(request.runs_directory)) {
    const bool is_same = run.info.command == request.command && run.info.working_directory == request.working_directory;
    if (is_same && run.info.fix.empty() && run.info.end_ns) return plan_from(run.path);
  }
  return PlannedFix{{"plain", "", {}}, "no earlier run of this command here; fixing within the limits of this machine"};
}

}  // namespace fullbore::cli
