// Where the training thread's time went, in exclusive parts that sum to 100 %. An instant that several stretches claim
// belongs to the first of: checkpoint, validation, logging, gc, input wait, collective, blocking read, profiler, copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/iterations.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

// In order of precedence.
enum class Claim : std::size_t {
  kCheckpoint,
  kValidation,
  kLogging,
  kGarbageCollection,
  kInputWait,
  kCollective,
  kBlockingRead,
  kProfiler,
  kCopyCall,
  kCount,
};

struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Claim claim = Claim::kCount;
};

// The claims of the training thread, made exclusive, in order of time.
std::vector<Stretch> exclusive_stretches(const Trainer& trainer, const Iterations& iterations);

// Nanoseconds by part over a set of time windows.
struct Accounted {
  std::array<double, static_cast<std::size_t>(Claim::kCount)> claimed_ns{};
  double body_ns = 0;            // the rest of the loop body
  double between_epochs_ns = 0;  // outside any iteration, nothing known about it
  double unknown_ns = 0;         // in iterations whose records are missing
  double total_ns = 0;
  std::size_t iterations = 0;

  double claim_ns(Claim claim) const { return claimed_ns[static_cast<std::size_t>(claim)]; }
  double share(Claim claim) const { return total_ns > 0 ? claim_ns(claim) / total_ns : 0; }
  // With the reads and copies of the body that the hook saw.
  double whole_body_ns() const { return body_ns + claim_ns(Claim::kBlockingRead) + claim_ns(Claim::kCopyCall); }
};

Accounted account_steady(const std::vector<Stretch>& stretches, const Iterations& iterations);
Accounted account_whole(const std::vector<Stretch>& stretches, const Iterations& iterations);

// Gives a claim that was seen in some iterations only its share of all of them, out of the rest of the loop body.
// `of_body`: of what is neither waiting nor claimed otherwise, as those iterations had it.
void spread(Accounted& accounted, Claim claim, double of_body);

// As the report shows it, per iteration. With `wait_known` false there is no input wait (it was not measured), and
// the loop body is unknown.
Account to_account(const Accounted& accounted, bool wait_known);

}  // namespace fullbore::diagnose
