// `fullbore index`: where the JPEGs of a data set can be decoded from, found at once instead of in the first epoch.
#pragma once

#include <string>

namespace fullbore::cli {

struct IndexCommandOptions {
  std::string data;
  std::string index = "auto";  // or the path of the file
  int threads = 0;             // 0: all cores
  bool check = false;
  bool json = false;
};

// 0; 1 if it could not be made or, with `check`, does not describe the data.
int index_command(const IndexCommandOptions& options);

}  // namespace fullbore::cli
