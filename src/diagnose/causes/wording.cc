// See wording.h.
#include "diagnose/causes/wording.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "diagnose/causes/conditions.h"
#include "diagnose/code_diff.h"

namespace fullbore::diagnose {
namespace {

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string faster(const Gain& gain) {
  if (!gain.predicted) return gain.max ? fmt::format("at most {} faster", factor(*gain.max)) : "faster";
  std::string text = fmt::format("about {} faster", factor(*gain.predicted));
  // An interval that reads as one figure says nothing.
  if (gain.low && gain.high && factor(*gain.low) != factor(*gain.high))
    text += fmt::format(" ({} to {})", factor(*gain.low), factor(*gain.high));
  return text;
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string factor(double value) {
  return value < 1.1 ? fmt::format("{:.2f}x", value) : fmt::format("{:.1f}x", value);
}

std::string milliseconds(double ms) {
  if (ms >= 1000) return fmt::format("{:.1f} s", ms / 1000);
  return ms >= 10 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.2g} ms", ms);
}

std::string cores(double value) {
  return std::abs(value - std::round(value)) < 0.05
             ? fmt::format("{:.0f} core{}", value, std::round(value) == 1 ? "" : "s")
             : fmt::format("{:.1f} cores", value);
}

std::string place(const std::optional<Location>& where) {
  return where ? fmt::format("{}:{}", file_name(where->file), where->line) : "";
}

std::string in_place(const std::optional<Location>& where) {
  return where ? fmt::format(" ({})", place(where)) : "";
}

std::string stage_words(const std::string& stage) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"", "making samples"},
      {"open", "opening files"},
      {"read", "reading data"},
      {"decode", "decoding"},
      {"augment", "augmentation"},
      {"tokenise", "tokenising"},
      {"convert", "conversion"},
      {"collate", "collating"},
      {"user_code", "the dataset's own code"},
      {"handoff", "the hand-over"},
      {"sampler", "the sampler"},
      {"index_wait", "indices to be sent to the workers"},
      {"worker_start", "workers to start"}};
  for (const auto& [id, words] : kWords) {
    if (id == stage) return std::string(words);
  }
  return stage;
}

std::string batches_for(const std::string& stage, const std::optional<Location>& where) {
  if (stage.empty()) return "batches" + in_place(where);
  return fmt::format("batches, above all for {}{},", stage_words(stage), in_place(where));
}

std::string with_gain(std::string summary, const Gain& gain) {
  const auto fill = [&](std::string_view here, const std::string& words) {
    const std::size_t at = summary.find(here);
    if (at != std::string::npos) summary.replace(at, here.size(), words);
  };
  fill(kFasterHere, faster(gain));
  fill(kWithHere, gain.predicted && !gain.with.empty() ? " " + gain.with : "");
  return summary;
}

namespace {

// As the run itself was started: without its --fix the next one would be back where the first began.
std::string options_of(const record::RunInfo& info) {
  if (info.fix.empty()) return "";
  return info.fix == "plain" ? "--fix " : fmt::format("--fix={} ", info.fix);
}

}  // namespace

Cause make_cause(const std::string& id, double share, const Situation& situation) {
  Cause cause;
  cause.cause = id;
  cause.share = share;
  cause.severity = severity_of(share);
  cause.where = situation.loader.where;
  cause.fix.where = situation.loader.where;
  cause.fix.next_command =
      fmt::format("fullbore run {}-- {}", options_of(situation.run->info), watched_command(*situation.run));
  return cause;
}

void add_evidence(Cause& cause, const std::string& metric, std::optional<double> value, const std::string& unit,
                  const std::string& source) {
  if (value && std::isfinite(*value)) cause.evidence.push_back({metric, *value, unit, source});
}

void add_wait_evidence(Cause& cause, const Situation& situation) {
  add_evidence(cause, "waiting for input, per step", situation.wait_ms(), "ms", "hook");
  add_evidence(cause, "making one batch", situation.makers.batch_ms(), "ms", "hook");
  add_evidence(cause, "of that on a CPU", situation.makers.cpu_share(), "share", "/proc/PID/schedstat");
  const ProfiledLine* line = situation.stage_line(cause.stage);
  if (cause.stage.empty() || line == nullptr) return;
  add_evidence(cause,
               fmt::format("{} of {} at {}", stage_words(cause.stage),
                           cause.stage == "collate" ? "all collating" : "a sample", place(line->where)),
               line->share, "share", line->callee.empty() ? "hook, line timing" : "hook, in " + line->callee);
}

void set_settings(Cause& cause, const Situation& situation, std::vector<Setting> settings) {
  std::erase_if(settings, [](const Setting& setting) { return setting.before == setting.after; });
  cause.fix.settings = std::move(settings);
  if (cause.fix.settings.empty()) return;
  if (const auto& where = situation.loader.where)
    cause.fix.diff = code_diff(
        {diff_path(where->file, situation.run->info.working_directory), where->line, where->code}, cause.fix.settings);
  cause.fix.next_command =
      fmt::format("fullbore run --fix={} -- {}", shell_quoted(situation.run->folder), watched_command(*situation.run));
}

void add_memory_evidence(Cause& cause, const Situation& situation) {
  add_evidence(cause, "of the workers' CPU time, memory given back and fetched again",
               refetched_memory_share(situation), "share", "/proc/PID/stat: time in the kernel, page faults");
}

Setting keep_freed_memory() {
  return {"keep_freed_memory", "False", "True"};
}

std::string watched_command(const record::Run& run) {
  std::string command;
  for (const std::string& word : run.info.command) command += (command.empty() ? "" : " ") + shell_quoted(word);
  return command;
}

std::string bool_text(bool value) {
  return value ? "True" : "False";
}

}  // namespace fullbore::diagnose
