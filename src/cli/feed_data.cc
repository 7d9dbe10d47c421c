#include "cli/feed_data.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "feed/image/data_source.h"

namespace fullbore::cli {

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/fullbore";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/fullbore" : "";
}

std::string listing_cache() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/shards";
}

base::Expected<image::Catalogue> open_feed_data(const std::vector<std::string>& names) {
  return image::open_data(names, std::max(1, static_cast<int>(std::thread::hardware_concurrency())), listing_cache());
}

}  // namespace fullbore::cli
