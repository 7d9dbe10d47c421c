// A loader worker was killed or ended by itself: training ends with it. Says by what, and whether it was memory.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/failures.h"
#include "diagnose/causes/wording.h"
#include "diagnose/ownership.h"

namespace fullbore::diagnose {
namespace {

constexpr double kMiB = 1048576;

struct Deaths {
  int count = 0;
  wire::WorkerExitRecord first{};
};

Deaths find_deaths(const Situation& situation) {
  Deaths deaths;
  for (const auto& exit : situation.trainer->rank->worker_exits) {
    if (exit.pid != situation.trainer->pid) continue;
    if (deaths.count++ == 0) deaths.first = exit.record;
  }
  return deaths;
}

// What the counter rose by over the whole run.
std::optional<double> rise(const record::Series* series) {
  if (series == nullptr || series->value.empty()) return std::nullopt;
  return series->value.back() - series->value.front();
}

std::optional<double> largest(const record::Series* series) {
  if (series == nullptr || series->value.empty()) return std::nullopt;
  return *std::ranges::max_element(series->value);
}

std::string by_what(std::int32_t code) {
  switch (-code) {
    case SIGKILL:
      return "killed (SIGKILL)";
    case SIGSEGV:
      return "ended by a segmentation fault (SIGSEGV)";
    case SIGBUS:
      return "ended by a bus error (SIGBUS)";
    case SIGABRT:
      return "aborted (SIGABRT)";
    case SIGTERM:
      return "told to end (SIGTERM)";
    default:
      return code < 0 ? fmt::format("ended by signal {}", -code) : fmt::format("ended with exit code {}", code);
  }
}

std::string what_to_do(std::int32_t code, bool out_of_memory) {
  if (out_of_memory)
    return "fit into the memory limit: fewer workers, a smaller prefetch_factor, smaller samples; or raise the limit";
  switch (-code) {
    case SIGKILL:
      return "see who sends SIGKILL: the kernel when memory is short (dmesg), a batch system at its limit, a person";
    case SIGBUS:
      return "make room in /dev/shm (docker --shm-size), or have fewer and smaller batches in flight";
    case SIGSEGV:
    case SIGABRT:
      return "find the sample: run the loader with num_workers=0 under python -X faulthandler; native libraries that "
             "were "
             "used before the fork may not survive it, then use multiprocessing_context=\"spawn\"";
    default:
      return "run the loader with num_workers=0: the error then shows in the main process";
  }
}

}  // namespace

std::optional<Cause> worker_crash(const Situation& situation) {
  const Deaths deaths = find_deaths(situation);
  if (deaths.count == 0) return std::nullopt;
  const std::int32_t code = deaths.first.exit_code;
  const auto kills = rise(situation.run->find("cgroup.oom_kills"));
  const bool out_of_memory = code == -SIGKILL && kills.value_or(0) > 0;

  Cause cause = make_cause("worker_crash", 1, situation);
  cause.cost = end_of_run(situation);
  const double after_s = static_cast<double>(deaths.first.time_ns - situation.run->info.start_ns) / 1e9;
  const std::string number = deaths.first.worker == wire::kUnknown32 ? "" : fmt::format(" {}", deaths.first.worker);
  cause.summary =
      fmt::format("Worker{} (pid {}) was {} {:.0f} s after the start{}, and training cannot go on without it{}.",
                  number, deaths.first.pid, by_what(code), after_s, in_place(situation.loader.where),
                  out_of_memory ? ": the memory limit of the control group was reached" : "");
  add_evidence(cause, "workers that died", deaths.count, "", "hook");
  add_evidence(cause, "kills for lack of memory in the control group", kills, "", "cgroup memory.events");
  const auto mib = [](std::optional<double> bytes) { return bytes ? std::optional(*bytes / kMiB) : std::nullopt; };
  add_evidence(cause, "memory limit", mib(largest(situation.run->find("cgroup.memory_limit_bytes"))), "MiB", "cgroup");
  add_evidence(cause, "most memory in use", mib(largest(situation.run->find("cgroup.memory_bytes"))), "MiB", "cgroup");
  add_evidence(cause, "workers",
               situation.loader.workers ? std::optional<double>(*situation.loader.workers) : std::nullopt, "", "hook");
  cause.fix.text = what_to_do(code, out_of_memory);
  cause.fix.risk = "none for results";
  return cause;
}

}  // namespace fullbore::diagnose
