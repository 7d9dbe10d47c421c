// What several causes ask the replay to play: time that making samples waits for storage, and time that the loop stands
// still, taken away.
#pragma once

#include <string>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Opening and reading take `left` (0 to 1) of the time that they wait for now. Where samples wait for something else as
// well, that stays; where no line was timed, all of it is taken for reading.
Change with_reads_at(double left, const Situation& situation, std::string words);

// The loop without what that claim takes of its own thread.
Change without(Claim claim, const Situation& situation, std::string words);

}  // namespace fullbore::diagnose
