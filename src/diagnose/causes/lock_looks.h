// How often the training thread was found waiting for Python's interpreter lock.
#pragma once

#include <optional>

#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct LockLooks {
  double all = 0, waiting = 0;

  double share() const { return waiting / all; }
};

// While the run was judged; nullopt where it was looked at too seldom to tell.
std::optional<LockLooks> lock_looks(const Situation& situation);

}  // namespace fullbore::diagnose
