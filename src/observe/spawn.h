// Starts the command exactly as it would have started without us: same group, streams, mask, dispositions and limits.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace fullbore::observe {

// What this process inherited and must hand on unchanged, taken before anything is altered.
struct InheritedSignals {
  sigset_t mask;
  struct sigaction child_action;  // SIGCHLD: ignored by some parents, which would break waiting
};

// Blocks what is relayed, and SIGCHLD, and makes children waitable.
InheritedSignals take_over_signals();
// In a forked child, before exec.
void give_back_signals(const InheritedSignals& inherited);

// execvp in a child; an exec that fails is reported here with its errno and leaves no child.
base::Expected<pid_t> spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                            const InheritedSignals& inherited);

}  // namespace fullbore::observe
