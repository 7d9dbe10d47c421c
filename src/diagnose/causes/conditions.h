// Conditions that several causes share, so that one of them steps aside where another explains the same time better.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Shares of step time: below a note nothing is said.
inline constexpr double kNoteShare = 0.05;
inline constexpr double kWarningShare = 0.10;
inline constexpr double kCriticalShare = 0.20;

Severity severity_of(double share);

bool waits(const Situation& situation);  // the steady step waits for input at all
bool has_workers(const Situation& situation);
bool waits_for_making(const Situation& situation);  // ... mostly while samples and batches are being made
bool blocked_mostly(const Situation& situation);    // making waits for something else than a core
bool in_training_thread(
    const Situation& situation);                    // num_workers=0, and a process more would have a core or need none
bool core_free(const Situation& situation);         // known to be
bool no_core_free(const Situation& situation);      // known to be
bool quota_limited(const Situation& situation);     // stopped by the control group's quota
bool affinity_limited(const Situation& situation);  // its cores are all busy, and the machine has others idle
bool storage_limited(const Situation& situation);   // blocked, reading from a device that gives no more
bool opens_dominate(const Situation& situation);    // files, not bytes or pixels, are most of a sample
bool all_busy(const Situation& situation);          // the workers, nearly all of their time
bool waits_in_line(const Situation& situation);     // finished batches lie behind a missing one, and workers idle
// Share of the steady step in which a finished batch was on its way, waiting for a core left out; 0 without workers.
double handing_over(const Situation& situation);
// Of the workers' CPU time, the share that goes into pages which they gave back and fetched again: an allocator returns
// what a sample took, and the next one begins with new, zeroed pages. Those of the batch itself, which is new each
// time, are left out. nullopt where it was not measured.
std::optional<double> refetched_memory_share(const Situation& situation);
// What of a sample's CPU time is left where workers keep the memory that they free; nullopt where that is not worth a
// change.
std::optional<double> cost_with_kept_memory(const Situation& situation);
bool pin_thread_busy(const Situation& situation);  // the thread that copies batches to pinned memory, all of its time
// Intervals of this kind on the training thread that fall, in part at least, into the whole run.
std::vector<const wire::IntervalRecord*> intervals_of(const Situation& situation, wire::IntervalKind kind);
std::optional<Location> place_of(const Situation& situation, const wire::IntervalRecord& interval);
// The worker that is much slower than the others throughout, or nullptr.
const Maker* slow_maker(const Situation& situation);
bool oversubscribed(const Situation& situation);  // libraries' threads in workers want cores that are not there
bool crowded(const Situation& situation);         // far more workers than cores, and they feel it

}  // namespace fullbore::diagnose
