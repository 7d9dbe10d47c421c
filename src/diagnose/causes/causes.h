// Every cause that Fullbore can name, each a pure function in a file of its own: nullopt where it does not hold. A new
// one is a new file, and a line here; docs/causes.md says what each is, what shows it and when it is not this but that.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

// The one list, a line each so that additions do not meet. Order matters only between causes of the same share: the
// cheaper change stands first.
// clang-format off
#define FULLBORE_CAUSES(cause) \
  cause(no_workers)            \
  cause(duplicate_work)        \
  cause(worker_restart)        \
  cause(worker_startup)        \
  cause(too_few_workers)       \
  cause(too_many_workers)      \
  cause(shallow_prefetch)      \
  cause(thread_oversubscription) \
  cause(handoff)               \
  cause(pin_thread)            \
  cause(sampler_slow)          \
  cause(gil_contention)        \
  cause(cpu_quota)             \
  cause(cpu_affinity)          \
  cause(slow_worker)           \
  cause(slow_samples)          \
  cause(small_files)           \
  cause(worker_memory_growth)  \
  cause(memory_pressure)       \
  cause(network_storage)       \
  cause(read_amplification)    \
  cause(cache_thrash)          \
  cause(io_neighbour)          \
  cause(storage_latency)       \
  cause(cold_cache)            \
  cause(storage_bandwidth)     \
  cause(cpu_saturated)         \
  cause(checkpoint_pause)      \
  cause(logging_pause)         \
  cause(gc_pause)              \
  cause(warmup)                \
  cause(pageable_copy)         \
  cause(blocking_copy)         \
  cause(unoverlapped_copy)     \
  cause(small_copies)          \
  cause(wide_dtype)            \
  cause(link_degraded)         \
  cause(numa_remote)           \
  cause(link_saturated)        \
  cause(allocator_churn)       \
  cause(host_sync)             \
  cause(launcher_starved)      \
  cause(launch_bound)          \
  cause(gpu_shared)            \
  cause(gpu_throttled)         \
  cause(validation_pause)
// clang-format on

namespace fullbore::diagnose {

#define FULLBORE_DECLARE(name) std::optional<Cause> name(const Situation& situation);
FULLBORE_CAUSES(FULLBORE_DECLARE)
#undef FULLBORE_DECLARE

using CauseFunction = std::optional<Cause> (*)(const Situation&);

inline constexpr CauseFunction kAllCauses[] = {
#define FULLBORE_LIST(name) name,
    FULLBORE_CAUSES(FULLBORE_LIST)
#undef FULLBORE_LIST
};

// Asked first: without enough to judge by, nothing else is said.
std::optional<Cause> insufficient_data(const Situation& situation);
// Asked even then: whatever else is not known, this ended the run. A cause of its end stands before the sign of it.
std::optional<Cause> shm_limit(const Situation& situation);
std::optional<Cause> fd_limit(const Situation& situation);
std::optional<Cause> worker_crash(const Situation& situation);
inline constexpr CauseFunction kEndings[] = {shm_limit, fd_limit, worker_crash};
// Asked last, when no cause holds: is there nothing to change, or only nothing that is known?
std::optional<Cause> compute_bound(const Situation& situation);
// The same verdict for a loop that waits a little and whose causes gain nothing by replay.
Cause loader_is_enough(const Situation& situation);
// The loop waits for its input, and no cause above says why.
Cause unexplained_wait(const Situation& situation);

}  // namespace fullbore::diagnose
