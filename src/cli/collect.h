// `fullbore collect`: observes a process that did not start under `fullbore run`, for fullbore.watching().
#pragma once

#include <string>

namespace fullbore::cli {

struct CollectOptions {
  std::string rings;  // folder that the process makes its rings in
  std::string out;    // run folder to write
  int pid = 0;
};

// Ends when the process or the ring folder is gone, or stdin is closed; then judges the run, as `fullbore run` does.
// Text on stdin is a JSON object with the source of notebook cells by name.
int collect(const CollectOptions& options);

}  // namespace fullbore::cli
