// Run folders on disk: which there are, which one the user means, and how to be rid of them. Nothing here follows a
// symbolic link, and nothing that is not Fullbore's own is ever removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/run.h"

namespace fullbore::cli {

// Where runs are kept unless told otherwise, relative to the working directory.
inline constexpr std::string_view kRunsDirectory = "fullbore-runs";

struct RunFolder {
  std::string path;
  record::RunInfo info;
  std::uint64_t bytes = 0;
};

// Real directories in `directory` that hold a readable run.json, newest first. Empty if there is no such directory.
std::vector<RunFolder> list_runs(const std::string& directory);

// The folder that RUN on the command line means: a path, "last" or "last~N" (the N-th before the last) of `directory`.
base::Expected<std::string> resolve_run(const std::string& run, const std::string& directory);

// Removes the files that Fullbore wrote into the folder, then the folder; run.json goes last, so that an interrupted
// removal can be repeated. Fails, and says so, if something else was put there.
base::Expected<void> remove_run(const std::string& folder);

// True while a run without an end was written to within the last minute.
bool is_in_progress(const RunFolder& run);

}  // namespace fullbore::cli
