// Who trains, and by which loader: everything later is said about one Trainer. A job has one per rank, or several
// without ranks (spawned trainers); each is judged by itself and nothing is averaged over them first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/run.h"
#include "wire/records.h"

namespace fullbore::diagnose {

// What marks the iterations of a training loop.
enum class LoopKind {
  kLoader,     // next() of a DataLoader
  kUserSteps,  // fullbore.step() or fullbore.observe()
  kSteps,      // optimiser steps only: how long they take is known, what they wait for is not
  kNone,       // nothing seen
};

// A stretch in which another loader than the training one was iterated, with what of it was spent waiting.
struct Validation {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t wait_ns = 0;
  std::uint32_t loader = 0;
};

// One training process. Pointers are into the Run, which outlives it. Lists are in order of time and hold only records
// whose times make sense (begin <= end, not before the one in front).
struct Trainer {
  const record::RankRecords* rank = nullptr;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  LoopKind loop = LoopKind::kNone;
  std::vector<std::uint32_t> loaders;               // the training loader; several ids if it is built again per epoch
  std::vector<const wire::NextRecord*> nexts;       // of the training loader
  std::vector<const wire::NextRecord*> companions;  // of other loaders read in the same iterations
  std::vector<const wire::IteratorRecord*> iterators;  // of the training loader
  std::vector<const wire::UserStepRecord*> user_steps;
  std::vector<const wire::StepRecord*> steps;
  std::vector<Validation> validations;
  std::int64_t unordered = 0;  // records left out because their times go backwards

  bool trains_with(std::uint32_t loader) const;
};

// All trainers of the run, those of lower ranks first; empty if no process said anything about training.
std::vector<Trainer> find_trainers(const record::Run& run);

// Ranks of the job that the trainer's process belongs to; kUnknown32 where it did not say.
std::int32_t world_size(const Trainer& trainer);

// The newest record of that loader, or nullptr.
const wire::LoaderRecord* loader_record(const Trainer& trainer, std::uint32_t loader);
// Of the training loader.
const wire::LoaderRecord* training_loader(const Trainer& trainer);

}  // namespace fullbore::diagnose
