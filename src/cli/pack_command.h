// `fullbore pack`: pictures into tar shards.
#pragma once

#include <string>
#include <vector>

#include "feed/image/pack.h"

namespace fullbore::cli {

struct PackCommandOptions {
  std::vector<std::string> data;  // one name, or several of shards
  std::string out;
  image::PackOptions pack;
};

// 0; 1 if it failed; 128 + the signal that stopped it. In both a second call goes on.
int pack_command(const PackCommandOptions& options);

}  // namespace fullbore::cli
