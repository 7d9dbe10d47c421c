// From a run to what holds it back: steps, account, the walk through the workers, causes, verdict. A pure function of
// the records: the same folder gives the same answer anywhere.
#pragma once

#include "diagnose/diagnosis.h"
#include "record/run.h"

namespace fullbore::diagnose {

// Judges every training process of the run by itself and reports the one that loses most. Never fails: what is not
// there is named in missing[].
Diagnosis diagnose(const record::Run& run);

}  // namespace fullbore::diagnose
