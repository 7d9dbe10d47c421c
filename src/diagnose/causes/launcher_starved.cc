// The GPU waits for launches, and the thread that makes them is not running although it has work: its own loader's
// workers and threads have its core, or hold the interpreter's lock. The loader no longer shows as a wait then, and
// more workers make it worse.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/copies.h"
#include "diagnose/causes/launching.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {

namespace {

// Of its work: any thread is preempted now and then.
constexpr double kLeastHeldUp = 0.1;

}  // namespace

std::optional<Cause> launcher_starved(const Situation& situation) {
  const auto launching = measure_launching(situation);
  if (!launching) return std::nullopt;
  const double share = launching->late_because_held_up();
  if (share < kNoteShare || launching->held_up < kLeastHeldUp) return std::nullopt;
  const bool by_lock =
      launching->lock.value_or(0) >= kNoteShare && launching->lock.value_or(0) >= launching->held_up / 2;
  const LoaderFacts& loader = situation.loader;

  Cause cause = make_cause("launcher_starved", share, situation);
  cause.gain = bound_without(share);
  cause.summary = fmt::format(
      "The GPU runs no kernel for {} of each step because the thread that launches them {} for {} of its working "
      "time{}; with it for itself, training would be at most {} faster.",
      percent(share), by_lock ? "waits for Python's interpreter lock" : "has no core", percent(launching->held_up),
      in_place(loader.where), factor(*cause.gain.max));
  add_evidence(cause, "no kernel running while the thread works, per step", launching->late * situation.step_ms(), "ms",
               kDeviceRecords);
  add_evidence(cause, "the thread's own work, per step", launching->own_ms, "ms", "CUPTI, hook");
  add_evidence(cause, "of it not running", launching->held_up, "share", "/proc/PID/task/TID/schedstat");
  add_evidence(cause, "looks at it waiting for the interpreter's lock", launching->lock, "share",
               "/proc/PID/task/TID/syscall");
  add_evidence(cause, "usable cores", situation.resources.usable_cores, "", "affinity, cgroup");
  add_evidence(cause, "in use by this job", situation.resources.tree_cores, "cores", "/proc/PID/stat");
  if (by_lock) {
    cause.fix.text =
        "take Python work out of the training process: DataLoader workers instead of threads, fullbore.ImageLoader "
        "(native threads that never take the lock), fewer tensors per batch for the thread that pins";
  } else {
    cause.fix.text =
        "leave the training thread a core or two: fewer workers than cores, one thread per worker "
        "(torch.set_num_threads(1)), or cheaper samples: fullbore.ImageLoader needs a fraction of the cores";
  }
  cause.fix.risk = "none for the numbers; with fewer workers the loader must still keep up";
  cause.why_not.push_back("more workers: the loop does not wait for batches, it waits for a core");
  cause.why_not.push_back("CUDA graphs: launching is slow only because the thread is not running");
  return cause;
}

}  // namespace fullbore::diagnose
