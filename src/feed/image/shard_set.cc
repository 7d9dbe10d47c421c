#include "feed/image/shard_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <thread>

#include "feed/image/shard_cache.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using base::Expected;

constexpr std::size_t kMostShards = 1'000'000;

bool is_tar_name(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kEnds = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What stands between braces: "000..012", whose numbers keep the first one's width, or "a,b,c".
Expected<std::vector<std::string>> alternatives(std::string_view inside, const std::string& pattern) {
  std::vector<std::string> words;
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) {
    for (std::size_t begin = 0; begin <= inside.size();) {
      const std::size_t end = std::min(inside.find(',', begin), inside.size());
      words.emplace_back(inside.substr(begin, end - begin));
      begin = end + 1;
    }
    return words;
  }
  const auto first = whole_number(inside.substr(0, dots)), last = whole_number(inside.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMostShards)
    return base::fail(fmt::format("{{{}}} in {} is no range; write {{0000..0146}}", inside, pattern));
  for (std::uint64_t number = *first; number <= *last; ++number) words.push_back(fmt::format("{:0{}}", number, dots));
  return words;
}

Expected<std::vector<std::string>> expand_braces(const std::string& pattern) {
  std::vector<std::string> names = {""};
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = std::min(pattern.find('{', at), pattern.size());
    for (std::string& name : names) name.append(pattern, at, open - at);
    if (open == pattern.size()) return names;
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) return base::fail(fmt::format("a brace of {} is not closed", pattern));
    const auto words = alternatives(std::string_view(pattern).substr(open + 1, close - open - 1), pattern);
    if (!words) return words;
    if (names.size() * words->size() > kMostShards)
      return base::fail(fmt::format("{} names more than {} shards", pattern, kMostShards));
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string& word : *words) longer.push_back(name + word);
    }
    names = std::move(longer);
    at = close + 1;
  }
  return names;
}

void add_samples(Catalogue& catalogue, ShardListing listing, std::uint32_t shard, bool labelled) {
  for (ShardSample& sample : listing.samples) {
    if (labelled && !sample.label && sample.fault.empty())
      sample.fault = "it has no label, in neither a .cls nor a .json, and other samples have one";
    catalogue.add_member(sample.name, sample.label.value_or(-1), {shard, sample.offset, sample.size});
    if (!sample.fault.empty()) catalogue.set_fault(std::move(sample.fault));
  }
}

}  // namespace

bool is_shard_source(const std::string& data) {
  std::error_code code;
  if (!fs::is_directory(data, code)) return is_tar_name(data);
  bool any = false;
  for (fs::directory_iterator entry(data, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code gone;
    if (entry->is_directory(gone)) return false;
    any = any || entry->path().extension() == ".tar";
  }
  return any;
}

Expected<std::vector<std::string>> expand_shards(const std::string& data) {
  std::error_code code;
  if (data.contains("://") || data.starts_with("pipe:"))
    return base::fail(fmt::format("{} is not on this machine; shards are read from files", data));
  if (!fs::is_directory(data, code)) {
    // A file may have braces in its name.
    if (fs::exists(data, code)) return std::vector<std::string>{data};
    return expand_braces(data);
  }
  std::vector<std::string> shards;
  for (fs::directory_iterator entry(data, code), end; !code && entry != end; entry.increment(code)) {
    if (entry->path().extension() == ".tar") shards.push_back(entry->path().string());
  }
  if (code) return std::unexpected(base::Error::system(code.value(), "cannot list " + data));
  std::ranges::sort(shards);
  return shards;
}

Expected<Catalogue> list_shards(const std::vector<std::string>& shards, int threads, const std::string& cache) {
  std::vector<std::optional<Expected<ShardListing>>> listings(shards.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < shards.size(); i = next++) listings[i] = list_shard_cached(shards[i], cache);
  };
  {
    std::vector<std::jthread> helpers;
    const auto wanted = std::min<std::size_t>(shards.size(), static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
  }
  bool labelled = false;
  for (const auto& listing : listings) {
    if (!*listing) return std::unexpected(listing->error());
    labelled = labelled || std::ranges::any_of((*listing)->samples, [](const auto& s) { return s.label.has_value(); });
  }
  Catalogue catalogue("");
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::uint32_t shard = catalogue.add_shard({shards[i], (*listings[i])->version});
    add_samples(catalogue, std::move(**listings[i]), shard, labelled);
    listings[i].reset();
  }
  if (catalogue.size() == 0)
    return base::fail(fmt::format("no picture in {}{}; members are named KEY.jpg, KEY.png or KEY.webp",
                                  shards.empty() ? "an empty list of shards" : shards.front(),
                                  shards.size() > 1 ? fmt::format(" and {} more shards", shards.size() - 1) : ""));
  return catalogue;
}

}  // namespace fullbore::image
