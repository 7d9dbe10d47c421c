// What a user may name as data: a folder of classes, a list of files, tar shards.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/catalogue.h"
#include "fullbore/image_fields.h"

namespace fullbore::image {

// One name of any kind, or several of shards. Lists with up to `threads` threads; `listing_cache` and
// `columns` as in LoaderOptions.
base::Expected<Catalogue> open_data(const std::vector<std::string>& data, int threads, const std::string& listing_cache,
                                    const ColumnOptions& columns = {});

}  // namespace fullbore::image
