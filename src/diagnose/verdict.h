// From causes to one verdict: ranked by what their change gains, with the confidence that the evidence deserves.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct Judgement {
  Verdict verdict;
  std::vector<Cause> causes;  // ranked
  ReplayFacts replay;
  std::string changed_at;  // when the two halves of the run disagree, or ""
};

Judgement judge(const Situation& situation);

}  // namespace fullbore::diagnose
