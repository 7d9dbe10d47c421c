// Where Fullbore keeps what it would otherwise find out again.
#pragma once

#include <string>

namespace fullbore::cli {

// fullbore in $XDG_CACHE_HOME or ~/.cache, as the Python loader has it; "" where neither is known.
std::string cache_folder();

}  // namespace fullbore::cli
