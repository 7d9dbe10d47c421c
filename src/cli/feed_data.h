// What the feeder's commands are given as DATA, opened as ImageLoader opens it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/catalogue.h"

namespace fullbore::cli {

// Where the listings of tar shards are kept, in cache_folder().
std::string listing_cache();

base::Expected<image::Catalogue> open_feed_data(const std::vector<std::string>& names);

}  // namespace fullbore::cli
