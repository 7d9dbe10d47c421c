// Other Python threads of the training process hold the interpreter lock while the training thread wants it: cores are
// free, and only one thread of the process runs at a time.
#include <fmt/format.h>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/conditions.h"
#include "diagnose/causes/wording.h"
#include "diagnose/gain.h"

namespace fullbore::diagnose {
namespace {

// Below 30 looks one of them would be more than three points.
constexpr double kLeastLooks = 30;
// Twice the share of a note: a look in ten is at least three of 30, and no accident.
constexpr double kLeastShare = 0.1;

struct Looks {
  double all = 0, waiting = 0;
};

// How often the training thread was looked at while it was judged, and how often it waited for the lock then.
Looks count_looks(const Situation& situation) {
  Looks looks;
  const Iterations& iterations = situation.iterations;
  const double seconds = static_cast<double>(iterations.whole_end_ns - iterations.whole_begin_ns) / 1e9;
  const std::string label = fmt::format("trainer/{}/{}", situation.trainer->pid, situation.trainer->tid);
  const auto count = [&](const char* metric) {
    const auto rate = rate_in(situation.run->find(metric, label), iterations.whole_begin_ns, iterations.whole_end_ns);
    return rate.value_or(0) * seconds;
  };
  looks.all = count("thread.lock_looks");
  looks.waiting = count("thread.lock_waits");
  return looks;
}

}  // namespace

std::optional<Cause> gil_contention(const Situation& situation) {
  const Looks looks = count_looks(situation);
  if (looks.all < kLeastLooks) return std::nullopt;
  const double share = looks.waiting / looks.all;
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
  add_evidence(cause, "looks at the training thread", looks.all, "", "/proc/PID/task/TID/syscall");
  add_evidence(cause, "of them waiting for the lock", looks.waiting, "", "/proc/PID/task/TID/syscall");
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
