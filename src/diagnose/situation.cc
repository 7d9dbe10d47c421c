// Runs the steps of the analysis in order for one trainer; see situation.h.
#include "diagnose/situation.h"

#include <algorithm>

#include "diagnose/loader_facts.h"

namespace fullbore::diagnose {
namespace {

// The wait of a loop is seen at the loader's next or at fullbore.observe(); step() and optimiser steps only mark time.
bool wait_is_known(const Trainer& trainer) {
  if (trainer.loop == LoopKind::kLoader) return true;
  return trainer.loop == LoopKind::kUserSteps && trainer.user_steps.front()->observed != 0;
}

bool on_gpu(const record::Run& run, const Trainer& trainer) {
  return std::ranges::any_of(trainer.rank->models, [&](const auto& model) {
    return model.pid == trainer.pid && run.name(model.record.device).starts_with("cuda");
  });
}

// A part of the wait, its on-CPU / runnable / blocked shares as in the stretch it belongs to.
InputWaitPart part_of(const std::string& what, const Spent& spent, double share_of_spent, const Situation& situation) {
  InputWaitPart part;
  part.what = what;
  const double ns = spent.ns * share_of_spent * (situation.on_device ? 1 - situation.on_device->hidden : 1);
  part.part = {ns / 1e6 / static_cast<double>(situation.steady.iterations), ns / situation.steady.total_ns};
  if (spent.timed_ns > 0) {
    part.on_cpu = spent.cpu_ns / spent.timed_ns;
    part.runnable = std::min(1 - *part.on_cpu, spent.runq_ns / spent.timed_ns);
    part.blocked = std::max(0.0, 1 - *part.on_cpu - *part.runnable);
  }
  return part;
}

std::string name_of(Doing doing) {
  switch (doing) {
    case Doing::kFetch:
      return "fetch";
    case Doing::kCollate:
      return "collate";
    case Doing::kHandoff:
      return "handoff";
    case Doing::kIndex:
      return "index_wait";
    case Doing::kSampler:
      return "sampler";
    case Doing::kStart:
      return "worker_start";
    case Doing::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::vector<InputWaitPart> split_wait(const Situation& situation) {
  std::vector<InputWaitPart> parts;
  if (situation.steady.total_ns <= 0) return parts;
  for (const auto& [doing, spent] : situation.walk.steady) {
    if (doing == Doing::kFetch && situation.profile.dataset.measured()) {
      for (const auto& [stage, share] : situation.profile.dataset.stages)
        parts.push_back(part_of(stage_name(stage), spent, share, situation));
    } else {
      parts.push_back(part_of(name_of(doing), spent, 1, situation));
    }
  }
  std::erase_if(parts, [](const InputWaitPart& part) { return part.part.ms <= 0; });
  std::ranges::stable_sort(parts, std::ranges::greater{}, [](const InputWaitPart& part) { return part.part.ms; });
  return parts;
}

// When the loop stood still for something that is not its input.
Spans pauses_of(const std::vector<Stretch>& stretches) {
  std::vector<Span> pauses;
  for (const Stretch& stretch : stretches) {
    switch (stretch.claim) {
      case Claim::kCheckpoint:
      case Claim::kValidation:
      case Claim::kLogging:
      case Claim::kGarbageCollection:
      case Claim::kProfiler:
        pauses.emplace_back(stretch.begin_ns, stretch.end_ns);
        break;
      default:
        break;
    }
  }
  return merged(std::move(pauses));
}

PlainBody plain_body(const Situation& situation) {
  const Accounted& steady = situation.steady;
  return {steady.whole_body_ns() / static_cast<double>(std::max<std::size_t>(1, steady.iterations)),
          situation.of_body(wire::Stage::kBlocking).value_or(0)};
}

// CPU time of handing over one batch: of the workers' threads that send, where they have no others, and of the loop's
// thread that takes it.
std::optional<double> handing_ns(const Situation& situation) {
  double taking_ns = 0, steps = 0;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr || iteration.next->cpu_ns == wire::kUnknown) continue;
    taking_ns += static_cast<double>(iteration.next->cpu_ns);
    ++steps;
  }
  const Resources& resources = situation.resources;
  if (steps == 0 || !resources.helper_cores) return std::nullopt;
  taking_ns /= steps;
  // A library's threads among them: packing costs about what unpacking does.
  const double sending_ns = *resources.helper_cores * situation.step_ms() * 1e6;
  const bool alone = resources.worker_threads.value_or(0) < kThreadsWithLibrary;
  return taking_ns + (alone ? sending_ns : std::min(sending_ns, taking_ns));
}

constexpr const char* kMakingStages[] = {"fetch",    "open",    "read",      "decode", "augment",
                                         "tokenise", "convert", "user_code", "collate"};

bool is_making(const std::string& what) {
  return std::ranges::find(kMakingStages, what) != std::end(kMakingStages);
}

}  // namespace

double Situation::step_ms() const {
  return steady.iterations == 0 ? 0 : steady.total_ns / 1e6 / static_cast<double>(steady.iterations);
}

double Situation::wait_ms() const {
  return step_ms() * wait_share();
}

double Situation::loop_wait_share() const {
  return wait_known ? steady.share(Claim::kInputWait) : 0;
}

double Situation::wait_share() const {
  return loop_wait_share() * (on_device ? 1 - on_device->hidden : 1);
}

double Situation::hidden_wait_ms() const {
  return step_ms() * (loop_wait_share() - wait_share());
}

double Situation::device_share(double ns) const {
  if (!device || steady.iterations == 0) return 0;
  return std::min(1.0, device->per_iteration(ns) * static_cast<double>(steady.iterations) / steady.total_ns);
}

double Situation::device_part(double DeviceBody::* part) const {
  return on_device ? on_device->body.*part * (1 - loop_wait_share()) : 0;
}

double Situation::making_share() const {
  if (walk.wait_ns <= 0) return 0;
  return (walk.spent_ns(Doing::kFetch) + walk.spent_ns(Doing::kCollate)) / walk.wait_ns;
}

std::optional<double> Situation::of_body(wire::Stage stage) const {
  const double waiting = profile.loop.share(wire::Stage::kWait);
  if (!profile.loop.measured() || waiting >= 1) return std::nullopt;
  return profile.loop.share(stage) / (1 - waiting);
}

std::string Situation::stage() const {
  const auto first = std::ranges::find_if(wait_parts, [](const InputWaitPart& part) { return is_making(part.what); });
  return first == wait_parts.end() || first->what == "fetch" ? "" : first->what;
}

std::string Situation::costliest_stage() const {
  if (!profile.dataset.measured()) return stage();
  std::string costliest = "collate";
  double most = static_cast<double>(makers.totals.collate_ns);
  for (const auto& [id, share] : profile.dataset.stages) {
    const double cost = share * static_cast<double>(makers.totals.fetch_ns);
    if (cost <= most || !is_making(stage_name(id))) continue;
    most = cost;
    costliest = stage_name(id);
  }
  return costliest;
}

double Situation::stage_share(const std::string& what) const {
  const auto part = std::ranges::find(wait_parts, what, &InputWaitPart::what);
  if (part == wait_parts.end() || walk.wait_ns <= 0) return 0;
  const double exposed = on_device ? 1 - on_device->hidden : 1;
  return exposed > 0 ? part->part.share * steady.total_ns / (walk.wait_ns * exposed) : 0;
}

const ProfiledLine* Situation::stage_line(const std::string& what) const {
  const PlaceProfile& place = what == "collate" ? profile.collate : profile.dataset;
  const auto line = std::ranges::find_if(
      place.lines, [&](const ProfiledLine& l) { return what == "collate" || stage_name(l.stage) == what; });
  return line == place.lines.end() ? nullptr : &*line;
}

Situation assess(const record::Run& run, const Trainer& trainer) {
  Situation situation;
  situation.run = &run;
  situation.trainer = &trainer;
  situation.wait_known = wait_is_known(trainer);
  situation.gpu = on_gpu(run, trainer);
  situation.iterations = cut_iterations(trainer);
  situation.stretches = exclusive_stretches(trainer, situation.iterations);
  situation.steady = account_steady(situation.stretches, situation.iterations);
  situation.whole = account_whole(situation.stretches, situation.iterations);
  situation.makers = collect_makers(trainer, situation.iterations, pauses_of(situation.stretches));
  situation.walk = walk_waits(situation.iterations, situation.makers);
  situation.passes = measure_passes(trainer, situation.iterations, situation.makers);
  situation.profile = read_profile(run, trainer);
  // Reads are timed in the iterations whose lines are: what these show holds for the others.
  if (const auto reading = situation.of_body(wire::Stage::kBlocking)) {
    spread(situation.steady, Claim::kBlockingRead, *reading);
    spread(situation.whole, Claim::kBlockingRead, *reading);
  }
  situation.device = gpu_evidence(run, trainer, situation.iterations, situation.stretches);
  if (situation.device) situation.on_device = split_of(*situation.device, plain_body(situation));
  situation.loader = describe_loader(run, trainer, situation.makers, situation.profile);
  situation.resources = measure_resources(run, situation.iterations);
  situation.steps = measure_steps(trainer, situation.iterations, situation.wait_known);
  situation.halves = compare_halves(situation.iterations);
  if (const auto handing = handing_ns(situation)) give_back_standing_behind(situation.walk, *handing);
  situation.wait_parts = split_wait(situation);
  situation.replay = replay::calibrate(situation);
  return situation;
}

}  // namespace fullbore::diagnose
