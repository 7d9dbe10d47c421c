// Libraries start threads of their own in every worker: together they want more cores than there are, and wait for each
// other more than they help.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// What limits the common libraries; each reads its own name when it is loaded.
constexpr const char* kOneThread = "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1";

constexpr double kMostOfTheWait = 0.5;

}  // namespace

std::optional<Cause> thread_oversubscription(const Situation& situation) {
  if (!waits(situation) || !oversubscribed(situation)) return std::nullopt;
  // The thread that sends a finished batch stands in line for a core with all the others.
  const double sending =
      situation.walk.wait_ns > 0 ? situation.walk.spent_ns(Doing::kHandoff) / situation.walk.wait_ns : 0;
  const double held_up = std::min(1.0, situation.making_share() + sending);
  if (held_up < kMostOfTheWait) return std::nullopt;
  if (quota_limited(situation)) return std::nullopt;

  const Resources& resources = situation.resources;
  Cause cause = make_cause("thread_oversubscription", situation.wait_share() * held_up, situation);
  cause.stage = situation.stage();
  cause.gain = bound_without(cause.share);
  // No change for the replay: how much of a library's thread is work and how much waiting for the others, by spinning,
  // no record says.
  const ProfiledLine* line = situation.stage_line(cause.stage);
  if (line != nullptr) cause.where = line->where;
  const double wanted = *resources.tree_cores + *resources.runq_cores;
  const std::int64_t workers = *situation.loader.workers;
  cause.summary = fmt::format(
      "The training loop waits {} of each step for {} while {} worker{} run {:.0f} threads each: on average {:.1f} "
      "threads want the {}; one thread per worker would make it {}.",
      percent(situation.wait_share()), batches_for(cause.stage, line ? std::optional(line->where) : std::nullopt),
      workers, workers == 1 ? "" : "s", *resources.worker_threads, wanted, cores(*resources.usable_cores), kFasterHere);
  add_evidence(cause, "threads that want a core", wanted, "", "/proc/PID/task/TID/schedstat");
  add_evidence(cause, "of them libraries' threads in workers", resources.helper_threads, "",
               "/proc/PID/task/TID/schedstat");
  add_evidence(cause, "usable cores", resources.usable_cores, "", "affinity, cpuset, quota");
  add_evidence(cause, "threads of a worker", resources.worker_threads, "", "/proc/PID/task");
  add_wait_evidence(cause, situation);
  cause.fix.text = fmt::format(
      "let a worker use one thread: in worker_init_fn call torch.set_num_threads(1), cv2.setNumThreads(0) or "
      "threadpoolctl.threadpool_limits(1), whichever library it is; or start with {}",
      kOneThread);
  cause.fix.where = situation.loader.where;
  set_settings(cause, situation, {{"worker_threads", "None", "1"}});
  cause.fix.risk =
      "sums over threads are rounded in another order, so results may differ in the last digits; the variables also "
      "limit the threads of a model on the CPU";
  cause.why_not.push_back(fmt::format("more workers than {}: the cores are taken by threads already", workers));
  return cause;
}

}  // namespace fullbore::diagnose
