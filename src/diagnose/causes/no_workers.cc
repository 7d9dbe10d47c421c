// num_workers=0: every batch is made in the training thread, which cannot train meanwhile, although cores are idle or
// the samples mostly wait for I/O.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/storage_conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Without batch records the wait of num_workers=0 still is the making of the batch: nobody else can have made it.
bool makes_in_loop(const Situation& situation) {
  return waits_for_making(situation) || situation.walk.matched == 0;
}

}  // namespace

std::optional<Cause> no_workers(const Situation& situation) {
  if (!waits(situation) || !makes_in_loop(situation)) return std::nullopt;
  if (!in_training_thread(situation) || storage_exhausted(situation)) return std::nullopt;
  const Gain gain = blocked_mostly(situation) ? bound_without(situation.wait_share())
                                              : bound_with_cores(situation, situation.wait_share());

  Cause cause = make_cause("no_workers", situation.wait_share(), situation);
  cause.stage = situation.stage();
  cause.gain = gain;
  const int workers = recommended_workers(situation);
  cause.change.workers = workers;
  cause.change.words = fmt::format("with {} worker{}", workers, workers == 1 ? "" : "s");
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} in the main process (num_workers=0{}); {} worker process{} "
      "would make it {}.",
      percent(cause.share), batches_for(cause.stage),
      situation.loader.where ? ", " + place(situation.loader.where) : "", workers, workers == 1 ? "" : "es",
      kFasterHere);
  add_wait_evidence(cause, situation);
  add_evidence(cause, "usable cores", situation.resources.usable_cores, "", "affinity, cpuset, quota");
  add_evidence(cause, "of them free", situation.resources.free_cores, "", "/proc/PID/stat");
  cause.fix.text = fmt::format("make batches in {} worker process{} that live{} on between epochs", workers,
                               workers == 1 ? "" : "es", workers == 1 ? "s" : "");
  set_settings(cause, situation,
               {{"num_workers", "0", std::to_string(workers)},
                {"persistent_workers", bool_text(situation.loader.persistent_workers.value_or(false)), "True"}});
  cause.fix.risk =
      situation.loader.iterable.value_or(false)
          ? "an iterable dataset that does not divide itself by worker (get_worker_info) yields every sample "
            "once per worker: check that first"
          : "the same samples in the same order; random augmentation draws from other random numbers";
  if (!situation.gpu)
    cause.why_not.push_back("pin_memory=True: the model is not on a GPU, there is nothing to copy to");
  if (situation.resources.rank_cores && situation.makers.batch_ms() && !blocked_mostly(situation))
    cause.why_not.push_back(fmt::format("more than {} worker{}: {} can be used by this process", workers,
                                        workers == 1 ? "" : "s", cores(*situation.resources.rank_cores)));
  return cause;
}

}  // namespace fullbore::diagnose
