// Every usable core is busy and the loop still waits: only cheaper work per sample, or more cores, will help.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

constexpr double kOnCpu = 0.5;

std::string cheaper_work(const std::string& stage) {
  if (stage == "decode")
    return "decode less: store the pictures at the size that training uses, or use a faster decoder "
           "(fullbore.ImageLoader decodes no more than the crop needs)";
  if (stage == "augment") return "augment on smaller pictures (crop first), or in one pass over the batch";
  if (stage == "tokenise") return "tokenise once, ahead of training, and store the tokens";
  if (stage == "collate") return "collate into arrays that are made once, without Python loops over samples";
  if (stage == "convert") return "keep bytes as bytes (uint8) and convert on the device";
  if (stage == "user_code") return "move work out of __getitem__: do it once, ahead of training, and store the result";
  return "make a sample cheaper: do ahead of training what is the same in every epoch";
}

// No one can say how much cheaper a sample can be made: half the cost of its main stage is what the replay is asked
// for.
Change at_half_its_cost(const std::string& stage, const Situation& situation) {
  Change change;
  change.words = fmt::format("with {} at half its cost", stage.empty() ? "a sample" : stage_words(stage));
  double share = stage.empty() ? 1 : 0;
  for (const auto& [id, part] : situation.profile.dataset.stages) {
    if (stage_name(id) == stage) share = part;
  }
  if (stage == "collate")
    change.collate = 0.5;
  else
    change.sample_cpu = 1 - 0.5 * std::min(1.0, share);
  return change;
}

std::string others(const Resources& resources) {
  return resources.crowded_by_others()
             ? fmt::format(" ({:.1f} of them with other programs)", *resources.neighbour_cores)
             : "";
}

// Where others take half of the cores, or more, that is the first thing to change; what a sample costs cannot be told
// well before.
constexpr double kTakenByOthers = 0.5;

void change_what_samples_cost(Cause& cause, const Situation& situation, const std::optional<Location>& where) {
  cause.change = at_half_its_cost(cause.stage, situation);
  cause.summary = fmt::format(
      "The training loop waits {} of each step for batches although all {} are busy{}, above all with {}{}; only "
      "cheaper samples or more cores can help: it would be {}{}.",
      percent(situation.wait_share()), cores(situation.resources.usable_cores.value_or(0)), others(situation.resources),
      stage_words(cause.stage), in_place(where), kFasterHere, kWithHere);
  cause.fix.text = cheaper_work(cause.stage);
  cause.fix.risk = "depends on the change: compare a few samples before and after";
}

// What needs no change of a sample comes first; cheaper work is the second step.
void change_memory(Cause& cause, const Situation& situation, double sample_cpu) {
  cause.change = {};
  cause.change.sample_cpu = sample_cpu;
  cause.change.words = "with workers that keep the memory they free";
  cause.summary = fmt::format(
      "The training loop waits {} of each step for batches although all {} are busy{}: {} of the workers' CPU time "
      "goes into memory that each sample gives back and the next one fetches again; it would be {}{}.",
      percent(situation.wait_share()), cores(situation.resources.usable_cores.value_or(0)), others(situation.resources),
      percent(1 - sample_cpu), kFasterHere, kWithHere);
  cause.fix.text = fmt::format("{}; then {}", kKeepFreedMemory, cheaper_work(cause.stage));
  set_settings(cause, situation, {keep_freed_memory()});
  cause.fix.risk = "the same samples in the same order; each worker stays as large as its largest sample made it";
}

void blame_others(Cause& cause, const Situation& situation, const std::optional<Location>& where) {
  const Resources& resources = situation.resources;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} while other programs take {:.1f} of the {} that this job may "
      "use; with the cores for itself it would be {}.",
      percent(situation.wait_share()), batches_for(cause.stage, where), *resources.neighbour_cores,
      cores(*resources.usable_cores), kFasterHere);
  cause.change = {};
  cause.fix.text =
      "end the other programs or move them (top shows them), or give this job cores of its own (taskset, Slurm "
      "--exclusive, another machine); then watch it again";
  cause.fix.risk = "none for results";
}

}  // namespace

std::optional<Cause> cpu_saturated(const Situation& situation) {
  if (!waits(situation) || !waits_for_making(situation) || !no_core_free(situation)) return std::nullopt;
  if (in_training_thread(situation) || opens_dominate(situation) || oversubscribed(situation)) return std::nullopt;
  if (quota_limited(situation) || affinity_limited(situation) || waits_in_line(situation) ||
      slow_maker(situation) != nullptr)
    return std::nullopt;
  const double working = situation.makers.cpu_share().value_or(0) + situation.makers.runnable_share().value_or(0);
  if (working < kOnCpu) return std::nullopt;
  // What is spent standing in line belongs to too_many_workers.
  const double in_line = crowded(situation) ? situation.makers.runnable_share().value_or(0) : 0;
  const double share = situation.wait_share() * (1 - in_line);
  if (share < kNoteShare) return std::nullopt;

  Cause cause = make_cause("cpu_saturated", share, situation);
  cause.stage = situation.costliest_stage();
  cause.gain = bound_without(cause.share);
  const ProfiledLine* line = situation.stage_line(cause.stage);
  if (line != nullptr) cause.fix.where = line->where;
  const auto where = line ? std::optional(line->where) : std::nullopt;
  add_evidence(cause, "usable cores", situation.resources.usable_cores, "", "affinity, cpuset, quota");
  add_evidence(cause, "in use by this job", situation.resources.tree_cores, "", "/proc/PID/stat");
  add_evidence(cause, "in use by others", situation.resources.neighbour_cores, "", "/proc/stat");
  add_wait_evidence(cause, situation);
  const auto kept = cost_with_kept_memory(situation);
  if (kept) add_memory_evidence(cause, situation);
  if (situation.resources.taken_by_others() >= kTakenByOthers)
    blame_others(cause, situation, where);
  else if (kept)
    change_memory(cause, situation, *kept);
  else
    change_what_samples_cost(cause, situation, where);
  cause.why_not.push_back(
      fmt::format("more workers than {}: no core is free to run them", situation.loader.workers.value_or(0)));
  return cause;
}

}  // namespace fullbore::diagnose
