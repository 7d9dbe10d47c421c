// The step by the user's own lines: a second view of the same time as the account.
#pragma once

#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/profile.h"

namespace fullbore::diagnose {

// Lines of the training loop, ms per step, most expensive first; the last entry, without a file, is what no line took,
// so that they sum to the step. The line that waits for its batch gets `wait_ms`, as the account has it. Empty if no
// line was timed.
std::vector<LineTime> loop_lines(const Profile& profile, double step_ms, double wait_ms);
// Lines of the dataset and of the collate function: ms per step over all workers, so that their sum may exceed the
// step. Lines under 1 % of making a batch are left out.
std::vector<LineTime> dataset_lines(const Profile& profile, double fetch_ms, double collate_ms, double step_ms);

}  // namespace fullbore::diagnose
