// The run ended because batches did not fit into /dev/shm, through which workers hand them over. Containers have 64 MB
// of it unless told otherwise.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/causes/causes.h"
#include "diagnose/causes/failures.h"
#include "diagnose/causes/wording.h"

namespace fullbore::diagnose {
namespace {

// Batches that wait, in the making and in the hands of the loop.
std::optional<double> needed_mb(const LoaderFacts& loader) {
  if (!loader.batch_mb || loader.workers.value_or(0) <= 0) return std::nullopt;
  return *loader.batch_mb * static_cast<double>(*loader.workers * loader.prefetch_factor.value_or(2) + 1);
}

std::string change(std::optional<double> needed) {
  const std::string size = needed ? fmt::format("{:.0f}m or more", 1.5 * *needed) : "8g";
  return fmt::format(
      "give the container more shared memory (docker --shm-size={}, or --ipc=host; Kubernetes: an emptyDir with medium "
      "Memory at /dev/shm), or keep fewer batches in flight",
      size);
}

}  // namespace

std::optional<Cause> shm_limit(const Situation& situation) {
  const wire::FailureRecord* failure = find_failure(
      situation, std::nullopt, {"unable to allocate shared memory", "unable to mmap", "out of shared memory"});
  if (failure == nullptr) return std::nullopt;

  const Resources& resources = situation.resources;
  const LoaderFacts& loader = situation.loader;
  Cause cause = make_cause("shm_limit", 1, situation);
  cause.cost = end_of_run(situation);
  cause.stage = "handoff";
  const auto needed = needed_mb(loader);
  cause.summary = fmt::format(
      "The run ended because batches did not fit into shared memory: /dev/shm has {}, and {} hand them over there{}.",
      resources.shm_size ? fmt::format("{:.0f} MB", *resources.shm_size / 1e6) : "too little room",
      loader.workers ? fmt::format("{} workers", *loader.workers) : "the workers",
      needed ? fmt::format("; what may be in flight is {:.0f} MB", *needed) : "");
  add_evidence(cause, "size of /dev/shm", resources.shm_size ? std::optional(*resources.shm_size / 1e6) : std::nullopt,
               "MB", "statvfs");
  add_evidence(cause, "least of it free, as seen once a second",
               resources.shm_free_least ? std::optional(*resources.shm_free_least / 1e6) : std::nullopt, "MB",
               "statvfs");
  add_evidence(cause, "one batch", loader.batch_mb, "MB", "hook");
  add_evidence(cause, "that may be in flight", needed, "MB", "hook");
  cause.fix.text = change(needed);
  const std::int64_t depth = loader.prefetch_factor.value_or(2);
  if (depth > 1) set_settings(cause, situation, {{"prefetch_factor", std::to_string(depth), "1"}});
  cause.fix.risk = "none for results; fewer batches in flight hide less of an uneven loader";
  cause.why_not.push_back("more memory: the limit is that of the file system at /dev/shm, not of the machine");
  return cause;
}

}  // namespace fullbore::diagnose
