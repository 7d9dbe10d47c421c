// The change as an edit of the user's own lines: what a person would paste, and nothing else touched.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"

namespace fullbore::diagnose {

struct CallSource {
  std::string file;    // as the diff should name it
  int first_line = 0;  // of `code` in the file
  std::string code;    // whole source lines that hold the call
};

// How a diff of a run in `working_directory` names `file`: relative to it if it lies inside, so that `patch -p1`
// applies the diff there.
std::string diff_path(const std::string& file, const std::string& working_directory);

// Unified diff that sets the keyword arguments of the one DataLoader call in `call`, keeping its formatting. Settings
// whose before equals after are left out, as are those that are no argument: of what workers do when they start only
// keep_freed_memory is one, as worker_init_fn, where the call has none. "" if nothing changes or it cannot be done
// safely: no such call or several, a value that may hide in *args or **kwargs, source that cannot be read.
std::string code_diff(const CallSource& call, const std::vector<Setting>& settings);

}  // namespace fullbore::diagnose
