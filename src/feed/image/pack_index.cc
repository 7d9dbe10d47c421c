#include "feed/image/pack_index.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace fullbore::image {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "fullbore.shards/1";

std::string path_in(const std::string& folder) {
  return folder + "/index.json";
}

// Throws where a field is missing or of another type.
PackIndex from_json(const Json& json) {
  PackIndex index;
  const auto data = json.at("data").get<std::string>();
  if (std::from_chars(data.data(), data.data() + data.size(), index.data, 16).ptr != data.data() + data.size())
    throw nlohmann::json::other_error::create(501, "\"data\" is no number", nullptr);
  index.samples = json.at("samples");
  index.shard_bytes = json.at("shard_bytes");
  if (!json.at("shuffle").is_null()) index.shuffle = json.at("shuffle").get<std::uint64_t>();
  index.next = json.at("next");
  index.classes = json.at("classes");
  for (const Json& shard : json.at("shards"))
    index.shards.push_back({shard.at("name"), shard.at("bytes"), shard.at("samples"), shard.at("crc32")});
  for (const Json& sample : json.at("left_out")) index.left_out.push_back({sample.at("path"), sample.at("reason")});
  return index;
}

}  // namespace

base::Expected<std::optional<PackIndex>> read_pack_index(const std::string& folder) {
  const std::string path = path_in(folder);
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  const Json json = Json::parse(in, nullptr, false);
  // Others have an index.json too.
  if (!json.is_object() || json.value("schema", Json()) != kSchema) return std::nullopt;
  try {
    return from_json(json);
  } catch (const nlohmann::json::exception& error) {
    return base::fail(fmt::format("{} is damaged ({}); remove its folder and pack again", path, error.what()));
  }
}

base::Expected<void> write_pack_index(const PackIndex& index, const std::string& folder) {
  Json json = {{"schema", kSchema},
               {"complete", index.is_complete()},
               {"data", fmt::format("{:016x}", index.data)},
               {"samples", index.samples},
               {"shard_bytes", index.shard_bytes},
               {"shuffle", index.shuffle ? Json(*index.shuffle) : Json()},
               {"next", index.next},
               {"classes", Json::array()},
               {"shards", Json::array()},
               {"left_out", Json::array()}};
  for (const std::string& name : index.classes) json["classes"].push_back(base::to_utf8(name));
  for (const auto& [name, bytes, samples, crc32] : index.shards)
    json["shards"].push_back({{"name", name}, {"bytes", bytes}, {"samples", samples}, {"crc32", crc32}});
  for (const auto& [path, reason] : index.left_out)
    json["left_out"].push_back({{"path", base::to_utf8(path)}, {"reason", base::to_utf8(reason)}});
  return replace_file(path_in(folder), json.dump(1) + "\n");
}

}  // namespace fullbore::image
