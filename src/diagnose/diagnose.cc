// Puts the judgement of the worst trainer and the facts of the run together; see diagnose.h.
#include "diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diagnose/causes/wording.h"
#include "diagnose/fix_report.h"
#include "diagnose/gpu_facts.h"
#include "diagnose/lines.h"
#include "diagnose/rank_devices.h"
#include "diagnose/situation.h"
#include "diagnose/trainer.h"
#include "diagnose/verdict.h"

namespace fullbore::diagnose {
namespace {

struct Judged {
  Situation situation;
  Judgement judgement;
};

// More is worse: a verdict before none, then the larger loss.
std::pair<bool, double> badness(const Judged& judged) {
  const Verdict& verdict = judged.judgement.verdict;
  return {verdict.cause != "insufficient_data", judged.judgement.causes.front().share};
}

void describe_steps(const Judged& judged, Diagnosis& out) {
  const Situation& situation = judged.situation;
  const auto account = [&](const Accounted& accounted) {
    return situation.on_device ? to_device_account(accounted, situation.wait_known, *situation.on_device)
                               : to_account(accounted, situation.wait_known);
  };
  out.account = account(situation.steady);
  out.whole = account(situation.whole);
  out.input_wait = situation.wait_parts;
  out.steps = situation.steps;
  out.loader = situation.loader;
  out.system = situation.resources.system;
  describe_device(situation, out);
  out.loop_lines =
      loop_lines(situation.profile, situation.step_ms(), situation.step_ms() * situation.loop_wait_share());
  const auto& totals = situation.makers.totals;
  const double batches = static_cast<double>(std::max<std::size_t>(1, totals.batches));
  out.dataset_lines = dataset_lines(situation.profile, totals.fetch_ns / 1e6 / batches,
                                    totals.collate_ns / 1e6 / batches, situation.step_ms());
}

std::string python_text(std::uint32_t hexversion) {
  return fmt::format("{}.{}.{}", hexversion >> 24, (hexversion >> 16) & 0xff, (hexversion >> 8) & 0xff);
}

void describe_process(const record::Run& run, const Trainer& trainer, Diagnosis& out) {
  for (const auto& process : trainer.rank->processes) {
    if (process.pid != trainer.pid) continue;
    out.line_tier = run.name(process.record.line_tier);
    if (process.record.python_version != 0) out.facts["python"] = python_text(process.record.python_version);
    if (process.record.torch_version != 0) out.facts["torch"] = run.name(process.record.torch_version);
    if (process.record.script != 0) out.facts["script"] = run.name(process.record.script);
    if (process.record.world_size > 0) out.facts["world_size"] = std::to_string(process.record.world_size);
  }
  std::int64_t most = -1;
  for (const auto& model : trainer.rank->models) {
    if (model.pid != trainer.pid || model.record.parameters <= most) continue;
    most = model.record.parameters;
    out.model_hash = fmt::format("{:016x}", model.record.hash);
    out.facts["model.parameters"] = std::to_string(model.record.parameters);
    out.facts["model.device"] = run.name(model.record.device);
    out.facts["optimizer"] = run.name(model.record.optimizer_type);
  }
}

// Each trainer in one line, so that a straggler can be seen.
void describe_trainers(const std::vector<Judged>& all, const Judged& worst, Diagnosis& out) {
  if (all.size() < 2) return;
  out.facts["trainers"] = std::to_string(all.size());
  for (const Judged& judged : all) {
    const Situation& situation = judged.situation;
    const std::string name = fmt::format("rank {} (pid {})", situation.trainer->rank->rank, situation.trainer->pid);
    out.facts["trainer " + name] = fmt::format("step {}, input wait {}, {}", milliseconds(situation.step_ms()),
                                               situation.wait_known ? percent(situation.wait_share()) : "not seen",
                                               judged.judgement.verdict.cause);
    if (&judged == &worst) out.facts["judged"] = name;
  }
  std::vector<const Situation*> situations;
  for (const Judged& judged : all) situations.push_back(&judged.situation);
  describe_rank_devices(situations, out);
}

void add_missing(Diagnosis& out, std::string signal, std::string why) {
  const bool known =
      std::ranges::any_of(out.missing, [&](const Missing& m) { return m.signal == signal && m.why == why; });
  if (!known) out.missing.push_back({std::move(signal), std::move(why)});
}

void list_missing_records(const record::Run& run, Diagnosis& out) {
  for (const auto& [signal, why] : run.info.missing) add_missing(out, signal, why);
  for (const std::string& damage : run.damage) add_missing(out, "records", damage);
  for (const record::RankRecords& rank : run.ranks) {
    for (const auto& missing : rank.missing)
      add_missing(out, std::string(run.name(missing.record.signal)), std::string(run.name(missing.record.why)));
    if (rank.dropped > 0)
      add_missing(out, "records",
                  fmt::format("rank {}: {} records were lost because a ring was full", rank.rank, rank.dropped));
  }
}

void list_missing_signals(const Situation& situation, Diagnosis& out) {
  if (situation.gpu && !situation.device)
    add_missing(out, "gpu",
                fmt::format("no trace window holds what the GPU did in {}; input wait may partly be hidden behind work "
                            "that was already queued",
                            situation.trainer->rank->trace_windows.empty()
                                ? "steady steps"
                                : fmt::format("two whole steps of {:.0f} ms", situation.step_ms())));
  if (!situation.wait_known && situation.trainer->loop != LoopKind::kNone)
    add_missing(out, "input_wait", "the loop reads no torch DataLoader; fullbore.observe() makes its wait visible");
  if (situation.walk.unmatched > 0)
    add_missing(out, "batches",
                fmt::format("{} of {} awaited batches have no record of how they were made", situation.walk.unmatched,
                            situation.walk.unmatched + situation.walk.matched));
  if (situation.trainer->unordered > 0)
    add_missing(out, "records",
                fmt::format("{} records were left out because their times go backwards", situation.trainer->unordered));
  if (!situation.profile.dataset.measured() && situation.walk.matched > 0)
    add_missing(out, "dataset lines", "no sample was traced, so stages of a sample are not told apart");
}

void describe_run(const record::Run& run, Diagnosis& out) {
  out.run = run.folder;
  out.command = watched_command(run);
  out.environment = run.info.environment;
  out.exit_code = run.info.exit_code;
  out.signal = run.info.signal;
  out.fix = read_fix_report(run);
  out.facts["host"] = run.info.host;
  out.facts["started"] = run.info.started_utc;
  out.facts["fullbore"] = run.info.fullbore_version;
  out.facts["ended"] = run.info.stopped_by.empty() ? "cut short" : run.info.stopped_by;
  const auto& info = run.info;
  if (info.collector_cpu_s && info.end_ns && *info.end_ns > info.start_ns)
    out.overhead.emplace_back("collector_cpu_share",
                              *info.collector_cpu_s / (static_cast<double>(*info.end_ns - info.start_ns) / 1e9));
  out.overhead.emplace_back("collector_mib", info.collector_peak_mib);
  list_missing_records(run, out);
}

std::vector<Judged> judge_all(const record::Run& run, const std::vector<Trainer>& trainers) {
  std::vector<Judged> all;
  for (const Trainer& trainer : trainers) {
    Situation situation = assess(run, trainer);
    Judgement judgement = judge(situation);
    all.push_back({std::move(situation), std::move(judgement)});
  }
  return all;
}

}  // namespace

Diagnosis diagnose(const record::Run& run) {
  Diagnosis out;
  describe_run(run, out);
  std::vector<Trainer> trainers = find_trainers(run);
  const record::RankRecords nobody;
  if (trainers.empty()) trainers.emplace_back().rank = run.ranks.empty() ? &nobody : &run.ranks.front();
  const std::vector<Judged> all = judge_all(run, trainers);
  const Judged& worst = *std::ranges::max_element(all, {}, badness);
  out.verdict = worst.judgement.verdict;
  out.causes = worst.judgement.causes;
  out.replay = worst.judgement.replay;
  out.changed_at = worst.judgement.changed_at;
  if (all.size() > 1)
    out.verdict.summary = fmt::format("Rank {}: {}", worst.situation.trainer->rank->rank, out.verdict.summary);
  describe_steps(worst, out);
  describe_process(run, *worst.situation.trainer, out);
  describe_trainers(all, worst, out);
  if (!worst.situation.resources.device.empty()) out.facts["data.device"] = worst.situation.resources.device;
  if (!worst.situation.resources.mount_type.empty()) out.facts["data.mount"] = worst.situation.resources.mount_type;
  list_missing_signals(worst.situation, out);
  return out;
}

}  // namespace fullbore::diagnose
