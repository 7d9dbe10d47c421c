// From causes with bounds to causes with predictions: what each change gains by replay, which stand first, what two
// gain together, and what limits the loop then.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

// Predicts every cause's gain, ranks by it, and gives the first three an interval. Causes that are no advice, because
// at worst their change gains less than 3 %, are left out as long as another stays. Without a replay that explains the
// run all keep their bounds, and only the reason is set.
ReplayFacts predict_gains(const Situation& situation, std::vector<Cause>& causes);

// By the part of their share that the change removes (all of it where nothing is predicted), the largest first; of
// causes within three points the one that stands first in kAllCauses, being cheaper to change.
void rank_causes(std::vector<Cause>& causes);

// Is that gain, at worst, too small to be worth a change?
bool is_advice(const Gain& gain);

}  // namespace fullbore::diagnose
