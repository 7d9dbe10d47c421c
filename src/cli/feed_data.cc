#include "cli/feed_data.h"

#include <algorithm>
#include <thread>

#include "cli/cache_folder.h"
#include "feed/image/data_source.h"

namespace fullbore::cli {

std::string listing_cache() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/shards";
}

base::Expected<image::Catalogue> open_feed_data(const std::vector<std::string>& names) {
  return image::open_data(names, std::max(1, static_cast<int>(std::thread::hardware_concurrency())), listing_cache());
}

}  // namespace fullbore::cli
