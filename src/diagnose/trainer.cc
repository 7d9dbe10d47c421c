// Finds the training loader of each process: the one whose iterations contain optimiser steps. A loader without them is
// validation, one that is read as often as the training loader and in the same iterations is its companion.
#include "diagnose/trainer.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fullbore::diagnose {
namespace {

struct LoaderUse {
  std::set<std::uint32_t> ids;
  std::vector<const wire::NextRecord*> nexts;
  std::uint32_t tid = 0;
  std::int64_t trained = 0;  // iterations with an optimiser step
  std::int64_t batches = 0;
  std::int64_t wait_ns = 0;
};

struct ProcessUse {
  std::map<std::uint32_t, LoaderUse> loaders;
  std::vector<const wire::StepRecord*> steps;
  std::uint32_t step_tid = 0;
  std::vector<const wire::UserStepRecord*> user_steps;
  std::uint32_t user_tid = 0;
  std::int64_t unordered = 0;
};

// Appends if the record's times follow those already there.
template <typename T>
void append_ordered(std::vector<const T*>& list, const T& record, std::int64_t& unordered) {
  const bool sane = record.begin_ns <= record.end_ns && (list.empty() || list.back()->begin_ns <= record.begin_ns);
  if (sane)
    list.push_back(&record);
  else
    ++unordered;
}

// A script that builds its loader anew for every epoch has one loader under many numbers: the same call with the same
// data counts as one. Maps (process, loader) to the first of them.
class SameLoaders {
 public:
  explicit SameLoaders(const record::RankRecords& rank) {
    for (const auto& [loader, pid, tid] : rank.loaders) {
      if (loader.line == wire::kUnknown32) continue;
      const auto call = std::tuple(pid, loader.file, loader.line, loader.dataset_type, loader.dataset_length,
                                   loader.batch_size, loader.flags & wire::kShuffle);
      first_[{pid, loader.loader}] = by_call_.try_emplace(call, loader.loader).first->second;
    }
  }

  std::uint32_t first(std::uint32_t pid, std::uint32_t loader) const {
    const auto found = first_.find({pid, loader});
    return found == first_.end() ? loader : found->second;
  }

 private:
  using Call =
      std::tuple<std::uint32_t, wire::NameId, std::int32_t, wire::NameId, std::int64_t, std::int32_t, std::uint32_t>;
  std::map<Call, std::uint32_t> by_call_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first_;
};

std::map<std::uint32_t, ProcessUse> uses_by_process(const record::RankRecords& rank) {
  std::map<std::uint32_t, ProcessUse> uses;
  const SameLoaders same(rank);
  for (const auto& next : rank.nexts) {
    ProcessUse& use = uses[next.pid];
    LoaderUse& loader = use.loaders[same.first(next.pid, next.record.loader)];
    loader.ids.insert(next.record.loader);
    if (loader.nexts.empty()) loader.tid = next.tid;
    append_ordered(loader.nexts, next.record, use.unordered);
  }
  for (const auto& step : rank.steps) {
    ProcessUse& use = uses[step.pid];
    if (use.steps.empty()) use.step_tid = step.tid;
    append_ordered(use.steps, step.record, use.unordered);
  }
  for (const auto& step : rank.user_steps) {
    ProcessUse& use = uses[step.pid];
    if (use.user_steps.empty()) use.user_tid = step.tid;
    append_ordered(use.user_steps, step.record, use.unordered);
  }
  return uses;
}

bool ends_loop(const wire::NextRecord& next) {
  return (next.flags & (wire::kStop | wire::kError)) != 0;
}

// An iteration runs from one next to the following one of the same loader, whatever iterator it belongs to.
void count_trained(LoaderUse& use, const std::vector<const wire::StepRecord*>& steps) {
  auto step = steps.begin();
  for (std::size_t i = 0; i < use.nexts.size(); ++i) {
    const wire::NextRecord& next = *use.nexts[i];
    if (ends_loop(next)) continue;
    ++use.batches;
    use.wait_ns += next.end_ns - next.begin_ns;
    const std::int64_t end = i + 1 < use.nexts.size() ? use.nexts[i + 1]->begin_ns : INT64_MAX;
    while (step != steps.end() && (*step)->begin_ns < next.end_ns) ++step;
    if (step != steps.end() && (*step)->begin_ns < end) ++use.trained;
  }
}

// The loader with most trained iterations; without optimiser steps the one with most batches. nullptr if none.
const LoaderUse* training_use(const ProcessUse& process) {
  const LoaderUse* best = nullptr;
  const auto key = [](const LoaderUse& use) { return std::tuple(use.trained, use.batches, use.wait_ns); };
  for (const auto& [id, use] : process.loaders) {
    if (use.batches > 0 && (best == nullptr || key(use) > key(*best))) best = &use;
  }
  return best;
}

bool is_companion(const LoaderUse& use, const LoaderUse& training) {
  return use.tid == training.tid && training.trained > 0 && use.trained * 2 >= training.trained &&
         use.trained * 2 >= use.batches;
}

// One Validation per iterator of a loader that does not train: from its first next (or the making of the iterator) to
// its last.
void add_validations(const LoaderUse& use, std::uint32_t loader, Trainer& trainer) {
  std::map<std::uint32_t, std::int64_t> made;
  for (const auto& iterator : trainer.rank->iterators) {
    if (iterator.pid == trainer.pid && use.ids.contains(iterator.record.loader))
      made[iterator.record.iterator] = iterator.record.begin_ns;
  }
  std::uint32_t current = 0;
  for (const wire::NextRecord* next : use.nexts) {
    if (trainer.validations.empty() || trainer.validations.back().loader != loader || current != next->iterator) {
      const auto begin = made.find(next->iterator);
      trainer.validations.push_back(
          {begin == made.end() ? next->begin_ns : std::min(begin->second, next->begin_ns), next->end_ns, 0, loader});
      current = next->iterator;
    }
    Validation& validation = trainer.validations.back();
    validation.end_ns = std::max(validation.end_ns, next->end_ns);
    validation.wait_ns += next->end_ns - next->begin_ns;
  }
}

void sort_by_begin(std::vector<const wire::NextRecord*>& nexts) {
  std::ranges::sort(nexts, {}, [](const wire::NextRecord* next) { return next->begin_ns; });
}

void use_loader(const ProcessUse& process, const LoaderUse& training, Trainer& trainer) {
  trainer.loop = LoopKind::kLoader;
  trainer.tid = training.tid;
  trainer.loaders.assign(training.ids.begin(), training.ids.end());
  trainer.nexts = training.nexts;
  for (const auto& iterator : trainer.rank->iterators) {
    const bool ours = iterator.pid == trainer.pid && trainer.trains_with(iterator.record.loader);
    if (ours) append_ordered(trainer.iterators, iterator.record, trainer.unordered);
  }
  for (const auto& [id, use] : process.loaders) {
    if (&use == &training || use.nexts.empty()) continue;
    if (is_companion(use, training))
      trainer.companions.insert(trainer.companions.end(), use.nexts.begin(), use.nexts.end());
    else if (use.tid == training.tid && training.trained > 0)
      add_validations(use, id, trainer);
  }
  sort_by_begin(trainer.companions);
  std::ranges::sort(trainer.validations, {}, &Validation::begin_ns);
}

Trainer make_trainer(const record::RankRecords& rank, std::uint32_t pid, const ProcessUse& process) {
  Trainer trainer;
  trainer.rank = &rank;
  trainer.pid = pid;
  trainer.steps = process.steps;
  trainer.user_steps = process.user_steps;
  trainer.unordered = process.unordered;
  const LoaderUse* training = training_use(process);
  // A loader that is read by another thread than the one that trains feeds some queue of the user's: what the training
  // thread waits for is not seen then.
  const bool foreign = training != nullptr && !process.steps.empty() && process.step_tid != training->tid;
  const bool loader_trains = training != nullptr && !foreign && training->trained > 0;
  // step() marks the same iterations as the loader's next, but not the wait: prefer the loader.
  const bool observed = !process.user_steps.empty() && process.user_steps.front()->observed != 0;
  const bool loader_keeps_pace =
      training != nullptr && !observed && training->batches * 2 >= static_cast<std::int64_t>(process.user_steps.size());
  if (!loader_trains && !loader_keeps_pace && process.user_steps.size() >= 3) {
    trainer.loop = LoopKind::kUserSteps;
    trainer.tid = process.user_tid;
  } else if (training != nullptr && !foreign && (training->trained > 0 || process.steps.size() < 3)) {
    use_loader(process, *training, trainer);
  } else if (!process.steps.empty()) {
    trainer.loop = LoopKind::kSteps;
    trainer.tid = process.step_tid;
  }
  return trainer;
}

}  // namespace

bool Trainer::trains_with(std::uint32_t loader) const {
  return std::ranges::binary_search(loaders, loader);
}

const wire::LoaderRecord* training_loader(const Trainer& trainer) {
  return trainer.loaders.empty() ? nullptr : loader_record(trainer, trainer.loaders.back());
}

std::vector<Trainer> find_trainers(const record::Run& run) {
  std::vector<Trainer> trainers;
  for (const record::RankRecords& rank : run.ranks) {
    auto uses = uses_by_process(rank);
    std::set<std::uint32_t> workers;
    for (const auto& process : rank.processes) {
      if (process.record.role == wire::Role::kWorker) workers.insert(process.pid);
    }
    for (auto& [pid, process] : uses) {
      if (workers.contains(pid)) continue;
      for (auto& [id, use] : process.loaders) count_trained(use, process.steps);
      Trainer trainer = make_trainer(rank, pid, process);
      if (trainer.loop != LoopKind::kNone) trainers.push_back(std::move(trainer));
    }
  }
  return trainers;
}

std::int32_t world_size(const Trainer& trainer) {
  for (const auto& process : trainer.rank->processes) {
    if (process.pid == trainer.pid && process.record.role == wire::Role::kTrainer) return process.record.world_size;
  }
  return wire::kUnknown32;
}

const wire::LoaderRecord* loader_record(const Trainer& trainer, std::uint32_t loader) {
  const wire::LoaderRecord* found = nullptr;
  for (const auto& record : trainer.rank->loaders) {
    if (record.pid == trainer.pid && record.record.loader == loader) found = &record.record;
  }
  return found;
}

}  // namespace fullbore::diagnose
