// Hand-made diagnoses for the tests of src/report: one run with the usual mistake, and the same run fixed.
#pragma once

#include "diagnose/diagnosis.h"

namespace fullbore::report::testing {

// num_workers=0, decode in the training process, 61 % of each step waiting.
diagnose::Diagnosis no_workers_run();
// The same work with 2 workers: nothing left to blame.
diagnose::Diagnosis fixed_run();
// fixed_run() on a GPU that was traced.
diagnose::Diagnosis traced_run();
// Too short to judge.
diagnose::Diagnosis short_run();

}  // namespace fullbore::report::testing
