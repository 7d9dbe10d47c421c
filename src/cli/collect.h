// `fullbore collect`: observes a process that did not start under `fullbore run`, for fullbore.watching().
#pragma once

#include <string>

namespace fullbore::cli {

struct CollectOptions {
  std::string rings;  // folder that the process makes its rings in
  std::string out;    // run folder to write
  int pid = 0;
};

// Ends when the process or the ring folder is gone.
int collect(const CollectOptions& options);

}  // namespace fullbore::cli
