// What --fix did in this run, from the records of the hook.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "record/run.h"

namespace fullbore::diagnose {

// nullopt for a run without --fix.
std::optional<FixReport> read_fix_report(const record::Run& run);

}  // namespace fullbore::diagnose
