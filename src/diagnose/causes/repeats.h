// What is given out more than once in a pass, told by what the batches hold: by every worker, or by every rank.
#pragma once

#include <optional>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct Repeats {
  int copies = 0;        // of each sample, in a pass
  double batches = 0;    // that were compared, of each worker or rank
  double identical = 0;  // of them, 0..1
};

// Each worker of an iterable dataset gives what the first one gives. nullopt: they differ, or it is not known, as where
// batches of one worker are the same among themselves.
std::optional<Repeats> repeats_of_workers(const Situation& situation);
// The same of the ranks of one job whose gradients are averaged over all of them, batch by batch in the same order.
std::optional<Repeats> repeats_of_ranks(const Situation& situation);

}  // namespace fullbore::diagnose
