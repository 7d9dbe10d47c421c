// run.json to and from RunInfo. JSON stays inside run_info.cc.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "record/run.h"

namespace fullbore::record {

// The version of the run folder's layout, "format" in run.json.
inline constexpr int kFolderFormat = 1;

std::string to_json(const RunInfo& info);
base::Expected<RunInfo> parse_run_info(std::string_view text);

}  // namespace fullbore::record
