#include "feed/image/data_source.h"

#include <fmt/core.h>

#include "feed/image/file_list.h"
#include "feed/image/image_folder.h"
#include "feed/image/shard_set.h"

namespace fullbore::image {

base::Expected<Catalogue> open_data(const std::vector<std::string>& data, int threads,
                                    const std::string& listing_cache) {
  if (data.size() == 1 && is_file_list(data.front())) return read_file_list(data.front());
  if (data.size() == 1 && !is_shard_source(data.front())) return list_image_folder(data.front(), threads);
  std::vector<std::string> shards;
  for (const std::string& name : data) {
    if (!is_shard_source(name))
      return base::fail(fmt::format("{} is no tar shard; of folders and lists of files one is read at a time", name));
    const auto some = expand_shards(name);
    if (!some) return std::unexpected(some.error());
    shards.insert(shards.end(), some->begin(), some->end());
  }
  return list_shards(shards, threads, listing_cache);
}

}  // namespace fullbore::image
