// Which tar shards a data set has: a folder of them, WebDataset's brace patterns, a list; and all their samples in
// order.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "feed/image/catalogue.h"

namespace fullbore::image {

// Whether `data` names shards: a name or pattern that ends with .tar (or .tar.gz and the like, which listing refuses by
// name), or a folder that has *.tar in it and no folders. Where both are, as the archives of ImageNet's classes beside
// what was unpacked from them, it is a folder of classes.
bool is_shard_source(const std::string& data);

// "a-{000..012}.tar" and "{train,val}.tar", several of them in one name; a folder's *.tar in the order of their bytes.
base::Expected<std::vector<std::string>> expand_shards(const std::string& data);

// Lists with up to `threads` threads. `cache`: see list_shard_cached. In data that has labels a picture without one is
// a bad sample; in data that has none all are -1.
base::Expected<Catalogue> list_shards(const std::vector<std::string>& shards, int threads, const std::string& cache);

}  // namespace fullbore::image
