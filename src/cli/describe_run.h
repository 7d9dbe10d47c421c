// What run.json says about a run before it starts, the same for `run` and `collect`.
#pragma once

#include <string>
#include <vector>

#include "record/run.h"

namespace fullbore::cli {

// The environment as strings "NAME=value".
std::vector<std::string> inherited_environment();

record::RunInfo describe_run(const std::vector<std::string>& command);

}  // namespace fullbore::cli
