// Which index file belongs to a data set: beside it where that can be written or one is there, else in a cache folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feed/image/catalogue.h"
#include "feed/image/index_file.h"

namespace fullbore::image {

struct OpenedIndex {
  std::optional<IndexFile> file;
  std::string problem;  // why there is none; empty if none was asked for
};

// What the index lies beside: the data as it was named, or the folder of its first shard.
std::string index_home(const Catalogue& catalogue, const std::vector<std::string>& data);

// FOLDER/.fullbore-index, or FILE.fullbore-index.
std::string index_beside(const std::string& data);

// `data`, `index` and `cache_folder` as in LoaderOptions. Fails only where `index` is a path, which somebody chose.
base::Expected<OpenedIndex> open_index(const std::string& data, const std::string& index,
                                       const std::string& cache_folder);

}  // namespace fullbore::image
