// One action per loader call and setting: ranks do the same, so the first that says something speaks for all.
#include "diagnose/fix_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "diagnose/code_diff.h"

namespace fullbore::diagnose {
namespace {

std::string value_text(const std::string& setting, std::int64_t value) {
  if (value == wire::kUnknown) return "None";
  if (setting == "pin_memory" || setting == "persistent_workers" || setting == "keep_freed_memory")
    return value != 0 ? "True" : "False";
  return std::to_string(value);
}

FixOutcome outcome_of(std::uint32_t applied) {
  if (applied == 1) return FixOutcome::kApplied;
  return applied == 2 ? FixOutcome::kTakenBack : FixOutcome::kLeftAlone;
}

const wire::LoaderRecord* find_loader(const record::RankRecords& rank, std::uint32_t pid, std::uint32_t loader) {
  const auto found = std::ranges::find_if(
      rank.loaders, [&](const auto& record) { return record.pid == pid && record.record.loader == loader; });
  return found == rank.loaders.end() ? nullptr : &found->record;
}

Location place_of(const record::Run& run, const wire::LoaderRecord* loader) {
  if (loader == nullptr || loader->line == wire::kUnknown32) return {};
  return {std::string(run.name(loader->file)), loader->line, std::string(run.name(loader->code))};
}

bool changes_random_numbers(const FixAction& action) {
  return action.outcome == FixOutcome::kApplied &&
         (action.setting.name == "num_workers" || action.setting.name == "persistent_workers");
}

// What torch itself takes for a loader that is given workers: nothing that anyone would write.
bool is_default(const FixAction& action) {
  return action.setting.name == "prefetch_factor" && action.setting.before == "None" && action.setting.after == "2";
}

std::string diff_of(const std::vector<FixAction>& actions, const std::string& working_directory) {
  std::map<std::pair<std::string, int>, std::pair<CallSource, std::vector<Setting>>> by_call;
  for (const FixAction& action : actions) {
    if (action.outcome != FixOutcome::kApplied || action.where.line == 0) continue;
    auto& [call, settings] = by_call[{action.where.file, action.where.line}];
    call = {diff_path(action.where.file, working_directory), action.where.line, action.where.code};
    settings.push_back(action.setting);
  }
  std::string diff;
  for (const auto& [place, edit] : by_call) diff += code_diff(edit.first, edit.second);
  return diff;
}

}  // namespace

std::optional<FixReport> read_fix_report(const record::Run& run) {
  if (run.info.fix.empty()) return std::nullopt;
  FixReport report;
  report.mode = run.info.fix;
  std::map<std::tuple<std::string, int, std::string>, std::size_t> seen;
  for (const record::RankRecords& rank : run.ranks) {
    for (const auto& [fix, pid, tid] : rank.fixes) {
      const std::string setting(run.name(fix.setting));
      FixAction action{place_of(run, find_loader(rank, pid, fix.loader)),
                       {setting, value_text(setting, fix.before), value_text(setting, fix.after)},
                       outcome_of(fix.applied),
                       std::string(run.name(fix.why))};
      if (is_default(action)) continue;
      const auto [at, added] = seen.try_emplace({action.where.file, action.where.line, setting}, report.actions.size());
      if (added)
        report.actions.push_back(std::move(action));
      else if (action.outcome == FixOutcome::kTakenBack)
        report.actions[at->second] = std::move(action);
    }
  }
  report.random_streams =
      std::ranges::any_of(report.actions, changes_random_numbers)
          ? "the same samples, each once per epoch, and the same distribution of augmentation, but from "
            "other random numbers, as when a person edits num_workers"
          : "every random number is as it was";
  report.diff = diff_of(report.actions, run.info.working_directory);
  return report;
}

}  // namespace fullbore::diagnose
