// The run ended because a process had no file descriptor left. torch hands each tensor of a batch over by a descriptor
// of its own, which lives as long as the tensor: batches that are kept use them up.
#include <fmt/format.h>

#include <cerrno>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/failures.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {

std::optional<Cause> fd_limit(const Situation& situation) {
  const wire::FailureRecord* failure =
      find_failure(situation, EMFILE, {"Too many open files", "received 0 items of ancdata"});
  if (failure == nullptr) return std::nullopt;

  const Resources& resources = situation.resources;
  const bool in_worker = failure->worker != wire::kUnknown32;
  Cause cause = make_cause("fd_limit", 1, situation);
  cause.cost = end_of_run(situation);
  cause.stage = in_worker ? "open" : "handoff";
  cause.summary =
      fmt::format("The run ended because {} had no file descriptor left{}: {}.",
                  in_worker ? fmt::format("worker {}", failure->worker) : "the training process",
                  resources.files_limit ? fmt::format(", of {:.0f} that it may have", *resources.files_limit) : "",
                  in_worker ? "its dataset opens files and does not close them"
                            : "each tensor that a worker handed over holds one for as long as it is kept");
  add_evidence(cause, "descriptors that a process may have", resources.files_limit, "", "/proc/PID/limits");
  add_evidence(cause, "most seen open in the training process", resources.files_open_most, "", "/proc/PID/fd");
  add_evidence(cause, "batches received", static_cast<double>(situation.trainer->nexts.size()), "", "hook");
  cause.fix.text =
      in_worker
          ? "close files when a sample is made (with open(...) as file), or raise the limit: ulimit -n 65536"
          : "do not keep batches, or keep copies of them (batch.clone()); or raise the limit (ulimit -n 65536); or "
            "hand tensors over by name: torch.multiprocessing.set_sharing_strategy(\"file_system\")";
  cause.fix.where = std::nullopt;
  cause.fix.risk = "by name, shared memory of a process that is killed stays in /dev/shm until the machine restarts";
  cause.why_not.push_back("fewer workers: descriptors are held by the tensors that are kept, whoever made them");
  return cause;
}

}  // namespace fullbore::diagnose
