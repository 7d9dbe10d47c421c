#include "report/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "report/words.h"

namespace fullbore::report {
namespace {

using Json = nlohmann::ordered_json;
using namespace diagnose;

// Six significant digits: more than any of these was measured to, and the same text on every machine.
Json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", value);
  return std::strtod(digits.data(), nullptr);
}

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>)
    return number_json(*value);
  else
    return *value;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json location_json(const Location& where) {
  return {{"file", where.file}, {"line", where.line}, {"code", text_or_null(where.code)}};
}

Json location_json(const std::optional<Location>& where) {
  return where ? location_json(*where) : Json(nullptr);
}

Json part_json(const Part& part) {
  return {{"ms", number_json(part.ms)}, {"share", number_json(part.share)}};
}

Json settings_json(const std::vector<Setting>& settings) {
  Json list = Json::array();
  for (const Setting& s : settings) list.push_back({{"name", s.name}, {"before", s.before}, {"after", s.after}});
  return list;
}

Json verdict_json(const Verdict& verdict) {
  return {{"cause", verdict.cause},
          {"stage", text_or_null(verdict.stage)},
          {"severity", word(verdict.severity)},
          {"confidence", word(verdict.confidence)},
          {"confidence_why", text_or_null(verdict.confidence_why)},
          {"summary", verdict.summary}};
}

Json fix_json(const Fix& fix) {
  return {{"text", fix.text},
          {"settings", settings_json(fix.settings)},
          {"where", location_json(fix.where)},
          {"diff", text_or_null(fix.diff)},
          {"risk", text_or_null(fix.risk)},
          {"next_command", text_or_null(fix.next_command)}};
}

Json gain_json(const Gain& gain) {
  return {{"max", json_or_null(gain.max)},
          {"predicted", json_or_null(gain.predicted)},
          {"low", json_or_null(gain.low)},
          {"high", json_or_null(gain.high)},
          {"kind", gain.kind},
          {"with", text_or_null(gain.with)}};
}

Json replay_json(const ReplayFacts& replay) {
  Json next = nullptr, pair = nullptr;
  if (replay.next)
    next = {{"limit", replay.next->limit},
            {"wait_share", number_json(replay.next->wait_share)},
            {"step_ms", number_json(replay.next->step_ms)}};
  if (replay.pair)
    pair = {{"causes", {replay.pair->first, replay.pair->second}}, {"gain", gain_json(replay.pair->gain)}};
  return {{"step_ms", json_or_null(replay.replayed_ms)},
          {"error", json_or_null(replay.error)},
          {"why_not", text_or_null(replay.why)},
          {"next_limit", next},
          {"pair", pair}};
}

Json cause_json(const Cause& cause) {
  Json evidence = Json::array();
  for (const Evidence& e : cause.evidence) {
    evidence.push_back({{"metric", e.metric}, {"value", number_json(e.value)}, {"unit", e.unit}, {"source", e.source}});
  }
  return {{"cause", cause.cause},
          {"stage", text_or_null(cause.stage)},
          {"severity", word(cause.severity)},
          {"share", cause.cost.empty() ? number_json(cause.share) : Json(nullptr)},
          {"cost", text_or_null(cause.cost)},
          {"summary", cause.summary},
          {"where", location_json(cause.where)},
          {"evidence", evidence},
          {"fix", fix_json(cause.fix)},
          {"gain", gain_json(cause.gain)},
          {"why_not", cause.why_not}};
}

Json account_json(const Account& account) {
  Json parts = Json::object();
  for (const char* id : kPartIds) {
    const auto found = account.parts.find(id);
    parts[id] = found == account.parts.end() ? Json(nullptr) : part_json(found->second);
  }
  if (parts["other"].is_object()) {
    Json named = Json::array();
    for (const auto& [name, part] : account.other) {
      Json entry = {{"name", name}};
      entry.update(part_json(part));
      named.push_back(entry);
    }
    parts["other"]["named"] = named;
  }
  return parts;
}

// Without parts nothing was judged, and the step of 0 ms is no step.
Json step_json(const Account& account) {
  return account.parts.empty() ? Json(nullptr) : number_json(account.step_ms);
}

Json input_wait_json(const std::vector<InputWaitPart>& parts) {
  Json list = Json::array();
  for (const InputWaitPart& p : parts) {
    list.push_back({{"what", p.what},
                    {"ms", number_json(p.part.ms)},
                    {"share", number_json(p.part.share)},
                    {"on_cpu", json_or_null(p.on_cpu)},
                    {"runnable", json_or_null(p.runnable)},
                    {"blocked", json_or_null(p.blocked)}});
  }
  return list;
}

Json steps_json(const Steps& steps) {
  return {{"count", steps.count},
          {"warmup", steps.warmup},
          {"mean_ms", json_or_null(steps.mean_ms)},
          {"sem_ms", json_or_null(steps.sem_ms)},
          {"p5_ms", json_or_null(steps.p5_ms)},
          {"p50_ms", json_or_null(steps.p50_ms)},
          {"p95_ms", json_or_null(steps.p95_ms)},
          {"p99_ms", json_or_null(steps.p99_ms)},
          {"wait_mean_ms", json_or_null(steps.wait_mean_ms)},
          {"wait_p99_ms", json_or_null(steps.wait_p99_ms)},
          {"wait_autocorrelation", json_or_null(steps.wait_autocorrelation)},
          {"samples_per_s", json_or_null(steps.samples_per_s)},
          {"epoch_hours", json_or_null(steps.epoch_hours)},
          {"optimizer_steps_per_iteration", json_or_null(steps.optimizer_steps_per_iteration)}};
}

Json loader_json(const LoaderFacts& loader) {
  Json stages = Json::object();
  for (const auto& [stage, ms] : loader.stage_ms) stages[stage] = number_json(ms);
  return {{"where", location_json(loader.where)},
          {"dataset_type", text_or_null(loader.dataset_type)},
          {"collate", text_or_null(loader.collate)},
          {"start_method", text_or_null(loader.start_method)},
          {"dataset_length", json_or_null(loader.dataset_length)},
          {"batches", json_or_null(loader.batches)},
          {"batch_size", json_or_null(loader.batch_size)},
          {"workers", json_or_null(loader.workers)},
          {"prefetch_factor", json_or_null(loader.prefetch_factor)},
          {"pin_memory", json_or_null(loader.pin_memory)},
          {"persistent_workers", json_or_null(loader.persistent_workers)},
          {"drop_last", json_or_null(loader.drop_last)},
          {"iterable", json_or_null(loader.iterable)},
          {"batch_mb", json_or_null(loader.batch_mb)},
          {"dtype", text_or_null(loader.dtype)},
          {"shape", loader.shape.empty() ? Json(nullptr) : Json(loader.shape)},
          {"sample_ms_p50", json_or_null(loader.sample_ms_p50)},
          {"sample_ms_p99", json_or_null(loader.sample_ms_p99)},
          {"sample_cpu_share", json_or_null(loader.sample_cpu_share)},
          {"batch_ms", json_or_null(loader.batch_ms)},
          {"worker_busy", json_or_null(loader.worker_busy)},
          {"stage_ms", stages.empty() ? Json(nullptr) : stages}};
}

void append_lines(Json& list, const std::vector<LineTime>& lines, const char* view) {
  for (const LineTime& line : lines) {
    list.push_back({{"view", view},
                    {"file", line.where.file},
                    {"line", line.where.line},
                    {"code", text_or_null(line.where.code)},
                    {"ms", number_json(line.ms)},
                    {"share", number_json(line.share)},
                    {"kind", line.kind}});
  }
}

// "cpu.usable_cores" -> {"cpu": {"usable_cores": ...}}; the six groups of the schema are there even when nothing of
// them was measured.
Json system_json(const std::vector<std::pair<std::string, std::optional<double>>>& metrics) {
  Json groups = Json::object();
  for (const char* group : {"cpu", "disk", "pressure", "memory", "shm", "limits"}) groups[group] = nullptr;
  for (const auto& [name, value] : metrics) {
    const std::size_t dot = name.find('.');
    const std::string group = dot == std::string::npos ? "host" : name.substr(0, dot);
    groups[group][dot == std::string::npos ? name : name.substr(dot + 1)] = json_or_null(value);
  }
  return groups;
}

Json fix_report_json(const std::optional<FixReport>& fix) {
  if (!fix) return nullptr;
  Json actions = Json::array();
  for (const FixAction& action : fix->actions) {
    actions.push_back({{"where", location_json(action.where)},
                       {"name", action.setting.name},
                       {"before", action.setting.before},
                       {"after", action.setting.after},
                       {"outcome", word(action.outcome)},
                       {"why", text_or_null(action.why)}});
  }
  return {{"mode", fix->mode},
          {"actions", actions},
          {"random_streams", text_or_null(fix->random_streams)},
          {"diff", text_or_null(fix->diff)}};
}

Json copy_json(const CopyFacts& copies) {
  return {{"count", copies.count},
          {"bytes", number_json(copies.bytes)},
          {"ms", number_json(copies.ms)},
          {"gb_per_s", json_or_null(copies.gb_per_s)}};
}

Json copies_json(const std::optional<Copies>& copies) {
  if (!copies) return nullptr;
  return {{"pageable", copy_json(copies->pageable)},
          {"pinned", copy_json(copies->pinned)},
          {"h2d_ms_per_batch", number_json(copies->h2d_ms_per_batch)},
          {"exposed_share", number_json(copies->exposed_share)}};
}

Json gaps_json(const GapShares& shares) {
  static constexpr const char* kGaps[] = {"below_1_ms", "1_to_10_ms", "10_to_100_ms", "above_100_ms"};
  Json gaps = Json::object();
  for (std::size_t i = 0; i < shares.size(); ++i) gaps[kGaps[i]] = number_json(shares[i]);
  return gaps;
}

// One entry: records of several devices of a process are taken together.
Json gpu_json(const std::optional<GpuFacts>& gpu) {
  if (!gpu) return nullptr;
  Json idle = Json::object();
  for (const GpuIdle& part : gpu->idle)
    idle[part.why] = {{"share", number_json(part.share)}, {"gaps", gaps_json(part.gaps)}};
  return Json::array({{{"busy", number_json(gpu->busy)},
                       {"windows", gpu->windows},
                       {"steps", gpu->steps},
                       {"seen_ms", number_json(gpu->seen_ms)},
                       {"kernels_per_step", number_json(gpu->kernels_per_step)},
                       {"hidden_wait_ms", number_json(gpu->hidden_wait_ms)},
                       {"gaps", gaps_json(gpu->gaps)},
                       {"idle", idle}}});
}

Json lists_json(const Diagnosis& d) {
  Json missing = Json::array();
  for (const Missing& m : d.missing) missing.push_back({{"signal", m.signal}, {"why", m.why}});
  Json overhead = Json::object();
  for (const auto& [name, value] : d.overhead) overhead[name] = json_or_null(value);
  Json lines = Json::array();
  append_lines(lines, d.loop_lines, "loop");
  append_lines(lines, d.dataset_lines, "dataset");
  return {{"lines", lines},
          {"line_tier", text_or_null(d.line_tier)},
          {"fix_applied", fix_report_json(d.fix)},
          {"missing", missing},
          {"overhead", overhead},
          {"facts", Json(d.facts)},
          {"environment", Json(d.environment)}};
}

}  // namespace

std::string to_json(const Diagnosis& d) {
  Json causes = Json::array();
  for (const Cause& cause : d.causes) causes.push_back(cause_json(cause));
  Json root = {{"schema", "fullbore.report/1"},
               {"run", text_or_null(d.run)},
               {"command", text_or_null(d.command)},
               {"verdict", verdict_json(d.verdict)},
               {"causes", causes},
               {"replay", replay_json(d.replay)},
               {"tier", d.account.tier},
               {"step_ms", {{"steady", step_json(d.account)}, {"whole", step_json(d.whole)}}},
               {"account", account_json(d.account)},
               {"whole", account_json(d.whole)},
               {"input_wait", input_wait_json(d.input_wait)},
               {"steps", steps_json(d.steps)},
               {"loader", loader_json(d.loader)},
               {"copies", copies_json(d.copies)},
               {"gpu", gpu_json(d.gpu)},
               {"system", system_json(d.system)},
               {"ceilings", nullptr}};
  root.update(lists_json(d));
  root["model_hash"] = text_or_null(d.model_hash);
  root["exit_code"] = json_or_null(d.exit_code);
  root["signal"] = json_or_null(d.signal);
  root["changed_at"] = text_or_null(d.changed_at);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fullbore::report
