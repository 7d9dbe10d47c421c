#include "cli/cache_folder.h"

#include <cstdlib>

namespace fullbore::cli {

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/fullbore";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/fullbore" : "";
}

}  // namespace fullbore::cli
