// From causes to one verdict: ranked by what they cost, with the confidence that the evidence deserves.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct Judgement {
  Verdict verdict;
  std::vector<Cause> causes;  // ranked
  std::string changed_at;     // when the two halves of the run disagree, or ""
};

Judgement judge(const Situation& situation);

// By share, the largest first; of causes within three points the one that stands first in kAllCauses, being cheaper to
// change.
void rank_causes(std::vector<Cause>& causes);

}  // namespace fullbore::diagnose
