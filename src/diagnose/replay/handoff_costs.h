// What passing batches from worker processes costs where the run had none: a loop with num_workers=0 says nothing about
// it. Figures per MB of batch, from pairs of runs that differed only in num_workers (docs/design/008-replay.md).
#pragma once

#include "diagnose/replay/loop.h"

namespace fullbore::diagnose::replay {

// Adds these costs to a loop that made its batches itself. They are known to a factor of two at best.
void add_handoff(Loop& loop);
// The reverse, for a loop whose workers are taken away.
void remove_handoff(Loop& loop);

}  // namespace fullbore::diagnose::replay
