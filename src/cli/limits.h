// What --fix must stay within on this machine, for this process and its children.
#pragma once

#include "base/file_reader.h"
#include "observe/fix_plan.h"

namespace fullbore::cli {

// A plan with nothing but limits. A limit that cannot be read is absent.
observe::FixPlan machine_limits(const base::FileReader& files);

}  // namespace fullbore::cli
