// Other Python threads of the training process hold the interpreter lock while the training thread wants it: cores are
// free, and only one thread of the process runs at a time.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/lock_looks.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Twice the share of a note: a look in ten is at least three of 30, and no accident.
constexpr double kLeastShare = 0.1;

}  // namespace

std::optional<Cause> gil_contention(const Situation& situation) {
  if (situation.device) return std::nullopt;  // whether the GPU ran dry meanwhile is known: launcher_starved
  const auto looks = lock_looks(situation);
  if (!looks) return std::nullopt;
  const double share = looks->share();
  if (share < kLeastShare) return std::nullopt;

  Cause cause = make_cause("gil_contention", share, situation);
  cause.where = cause.fix.where = std::nullopt;
  cause.gain = bound_without(share);
  cause.change.body_less_ms = share * (situation.step_ms() - situation.wait_ms());
  cause.change.words = "with the lock for itself";
  cause.summary = fmt::format(
      "The training thread waits {} of its time for Python's interpreter lock, which other threads of the same process "
      "hold; alone it would be {}.",
      percent(share), kFasterHere);
  add_evidence(cause, "looks at the training thread", looks->all, "", "/proc/PID/task/TID/syscall");
  add_evidence(cause, "of them waiting for the lock", looks->waiting, "", "/proc/PID/task/TID/syscall");
  add_evidence(cause, "in use by this job", situation.resources.tree_cores, "cores", "/proc/PID/stat");
  add_evidence(cause, "free cores", situation.resources.free_cores, "", "/proc/PID/stat");
  add_evidence(cause, "step", situation.step_ms(), "ms", "hook");
  cause.fix.text =
      "move what computes in threads of the training process (prefetching, collating, metrics, plots) into processes: "
      "DataLoader workers, multiprocessing; or into library calls that release the lock";
  cause.fix.risk = "what threads shared by reference has to be sent to a process";
  cause.why_not.push_back("more threads: only one of a process runs Python at a time");
  if (core_free(situation)) cause.why_not.push_back("more cores: there are free ones, and they do not help");
  return cause;
}

}  // namespace fullbore::diagnose
