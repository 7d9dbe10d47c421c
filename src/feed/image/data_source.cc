#include "feed/image/data_source.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "feed/image/file_list.h"
#include "feed/image/image_folder.h"
#include "feed/image/pack_index.h"
#include "feed/image/shard_set.h"

namespace fullbore::image {
namespace {

// A folder that `fullbore pack` made knows which shards it must have, and the names of the classes.
base::Expected<Catalogue> list_shard_folder(const std::string& folder, int threads, const std::string& listing_cache) {
  const auto shards = expand_shards(folder);
  if (!shards) return std::unexpected(shards.error());
  auto index = read_pack_index(folder);
  if (!index) return std::unexpected(index.error());
  if (*index && !(*index)->is_complete())
    return base::fail(fmt::format("{} is not packed to its end ({} of {} samples); call fullbore pack again", folder,
                                  (*index)->next, (*index)->samples));
  std::set<std::string> there;
  for (const std::string& path : *shards) there.insert(std::filesystem::path(path).filename());
  for (const WrittenShard& shard : *index ? (*index)->shards : std::vector<WrittenShard>()) {
    if (!there.contains(shard.name))
      return base::fail(fmt::format("{}/{} is missing, of the {} shards that were packed", folder, shard.name,
                                    (*index)->shards.size()));
  }
  auto catalogue = list_shards(*shards, threads, listing_cache);
  if (catalogue && *index) catalogue->set_classes(std::move((*index)->classes));
  return catalogue;
}

std::string unusable_columns(const std::vector<std::string>& data, const ColumnOptions& columns) {
  if (columns.labels.empty()) return "no column for the label; name one";
  const bool usual = columns.labels == ColumnOptions().labels && columns.fields.empty() && !columns.all_fields;
  if (!usual && !(data.size() == 1 && is_file_list(data.front())))
    return fmt::format("labels and fields are columns of a list of files; {} is none (*.csv, *.jsonl)", data.front());
  return {};
}

}  // namespace

base::Expected<Catalogue> open_data(const std::vector<std::string>& data, int threads, const std::string& listing_cache,
                                    const ColumnOptions& columns) {
  if (std::string why = unusable_columns(data, columns); !why.empty()) return base::fail(std::move(why));
  if (data.size() == 1 && is_file_list(data.front())) return read_file_list(data.front(), columns);
  if (data.size() == 1 && !is_shard_source(data.front())) return list_image_folder(data.front(), threads);
  if (data.size() == 1 && std::filesystem::is_directory(data.front()))
    return list_shard_folder(data.front(), threads, listing_cache);
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
