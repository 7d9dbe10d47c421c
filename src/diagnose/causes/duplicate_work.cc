// The same samples are made several times in a pass: each worker of an iterable dataset goes through all of it, or each
// rank of a data-parallel job does.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/repeats.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

// `__iter__` of the dataset; not known where it is a library's.
std::optional<Location> dataset_place(const Situation& situation) {
  const wire::LoaderRecord* loader = training_loader(*situation.trainer);
  if (loader == nullptr || loader->dataset_line <= 0 || loader->dataset_file == 0) return std::nullopt;
  return Location{std::string(situation.run->name(loader->dataset_file)), loader->dataset_line, ""};
}

// No gain: the step does not become faster, there are fewer of them until all data has been seen.
Cause repeated(const Situation& situation, const Repeats& repeats, const char* by) {
  Cause cause = make_cause("duplicate_work", 1 - 1.0 / repeats.copies, situation);
  add_evidence(cause, fmt::format("batches of each {} compared", by), repeats.batches, "", "hook");
  add_evidence(cause, "of them the same in all", repeats.identical, "share", "hook");
  add_evidence(cause, "copies of each sample in a pass", repeats.copies, "", "hook");
  return cause;
}

Cause by_workers(const Situation& situation, const Repeats& repeats) {
  Cause cause = repeated(situation, repeats, "worker");
  if (const auto where = dataset_place(situation)) cause.where = where;
  cause.summary = fmt::format(
      "Each of the {} workers goes through the whole of {}{}: every sample comes {} times in a pass, so {} of all time "
      "goes into samples that the model has just seen, and a pass takes {} times as many steps as the data needs.",
      repeats.copies, situation.loader.dataset_type.empty() ? "the dataset" : situation.loader.dataset_type,
      in_place(cause.where), repeats.copies, percent(cause.share), repeats.copies);
  cause.fix.text =
      "give each worker its share: in __iter__, with info = torch.utils.data.get_worker_info(), take every "
      "info.num_workers-th sample (or file) from the info.id-th on";
  cause.fix.risk = "a pass has fewer steps then, so schedules that count steps or passes have to be set anew";
  cause.why_not.push_back("more workers: each of them adds one more copy of all samples");
  return cause;
}

Cause by_ranks(const Situation& situation, const Repeats& repeats) {
  Cause cause = repeated(situation, repeats, "rank");
  const bool iterable = situation.loader.iterable.value_or(false);
  cause.summary = fmt::format(
      "All {} ranks train on the same batches in the same order{}, and DistributedDataParallel averages gradients that "
      "are of the same samples: {} of the work of all ranks together is repetition, and they get through the data no "
      "faster than one.",
      repeats.copies, in_place(cause.where), percent(cause.share));
  cause.fix.text =
      iterable ? "give each rank its share in __iter__ of the dataset: every world_size-th sample (or file) from the "
                 "rank-th on, and of these each worker its own"
               : "give each rank its share: DataLoader(..., shuffle=False, sampler=DistributedSampler(dataset)), and "
                 "sampler.set_epoch(epoch) before each pass";
  cause.fix.risk =
      "the batch that one optimiser step sees becomes as many times larger as there are ranks; leave it where ranks "
      "read the same on purpose, as for parts of one sequence each";
  return cause;
}

}  // namespace

std::optional<Cause> duplicate_work(const Situation& situation) {
  if (const auto repeats = repeats_of_workers(situation)) return by_workers(situation, *repeats);
  if (const auto repeats = repeats_of_ranks(situation)) return by_ranks(situation, *repeats);
  return std::nullopt;
}

}  // namespace fullbore::diagnose
