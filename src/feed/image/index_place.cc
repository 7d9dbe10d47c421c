#include "feed/image/index_place.h"

#include <fmt/core.h>

#include <filesystem>

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSuffix = ".fullbore-index";

// Data of the same name in other places have other names here.
std::string index_in_cache(const std::string& data, const fs::path& folder) {
  std::error_code code;
  fs::path real = fs::weakly_canonical(data, code);
  if (code) real = data;
  if (!real.has_filename()) real = real.parent_path();
  return folder / fmt::format("{}-{:016x}{}", real.filename().string(), index_name(real.string()), kSuffix);
}

}  // namespace

std::string index_home(const Catalogue& catalogue, const std::vector<std::string>& data) {
  if (!catalogue.has_shards()) return data.front();
  const fs::path folder = fs::path(catalogue.shard(0).path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string index_beside(const std::string& data) {
  std::error_code code;
  return fs::is_directory(data, code) ? (fs::path(data) / kSuffix).string() : data + kSuffix;
}

base::Expected<OpenedIndex> open_index(const std::string& data, const std::string& index,
                                       const std::string& cache_folder) {
  if (index.empty()) return OpenedIndex{};
  auto beside = IndexFile::open(index == "auto" ? index_beside(data) : index);
  if (beside) return OpenedIndex{std::move(*beside), ""};
  if (index != "auto") return std::unexpected(beside.error());
  // Without a number of the system's it is a file that somebody must look at.
  if (beside.error().error_number() == 0 || cache_folder.empty())
    return OpenedIndex{std::nullopt, beside.error().message()};
  std::error_code code;
  fs::create_directories(cache_folder, code);
  auto cached = IndexFile::open(index_in_cache(data, cache_folder));
  if (cached) return OpenedIndex{std::move(*cached), ""};
  return OpenedIndex{std::nullopt, beside.error().message() + "; " + cached.error().message()};
}

}  // namespace fullbore::image
