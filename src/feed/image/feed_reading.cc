#include "feed/image/feed_reading.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>
#include <vector>

#include "base/clock.h"
#include "feed/image/decoder.h"
#include "feed/image/page_cache.h"
#include "feed/image/shard_files.h"
#include "feed/image/shuffle.h"

namespace fullbore::image {
namespace {

constexpr std::uint64_t kProbed = 200;      // pictures whose place in the page cache is asked for
constexpr std::uint64_t kDropped = 20'000;  // pictures that are dropped from it at most

struct Place {
  std::string path;
  std::uint64_t offset = 0, size = 0;
};

Place place_of(const Catalogue& catalogue, std::uint64_t sample) {
  if (const auto member = catalogue.member(sample))
    return {catalogue.shard(member->shard).path, member->offset, member->size};
  Place place;
  catalogue.path(sample, place.path);
  std::error_code code;
  place.size = std::filesystem::file_size(place.path, code);
  if (code) place.size = 0;
  return place;
}

std::string decoded_by(std::span<const std::uint8_t> file) {
  const auto extension = picture_extension(file);
  if (!extension) return "nothing";
  if (extension != "jpg") return extension == "png" ? "PNG" : "WebP";
  const auto header = jpeg::read_header(file);
  if (!header) return "nothing";
  if (header->channels == 4) return "JPEG, whole (CMYK)";
  return header->native ? "JPEG, window" : "JPEG, whole (libjpeg-turbo)";
}

// Whole files and whole shards: the kernel keeps what is only in part to be forgotten.
void drop(const Catalogue& catalogue, const Shuffle& order, std::uint64_t count) {
  std::set<std::uint32_t> shards;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t sample = order.at(i);
    const auto member = catalogue.member(sample);
    if (!member || shards.insert(member->shard).second) drop_from_cache(place_of(catalogue, sample).path);
  }
}

std::optional<double> cached_share(const Catalogue& catalogue, const Shuffle& order) {
  std::uint64_t cached = 0, all = 0;
  for (std::uint64_t i = 0; i < std::min(kProbed, catalogue.size()); ++i) {
    const Place place = place_of(catalogue, order.at(i));
    const auto bytes = cached_bytes(place.path, place.offset, place.size);
    if (!bytes) continue;
    cached += bytes->cached;
    all += bytes->all;
  }
  return all == 0 ? std::nullopt : std::optional(static_cast<double>(cached) / static_cast<double>(all));
}

}  // namespace

ReadingRate measure_reading(const Catalogue& catalogue, const ReadingOptions& options,
                            const std::function<bool()>& go_on,
                            const std::function<void(std::uint64_t sample, const std::string& reason)>& on_bad) {
  const Shuffle order(catalogue.size(), 0, 0);
  const std::uint64_t most = options.cold ? std::min(kDropped, catalogue.size()) : catalogue.size();
  if (options.cold) drop(catalogue, order, most);
  ReadingRate rate;
  rate.threads = options.threads;
  rate.cached = cached_share(catalogue, order);
  ShardFiles shards(catalogue);
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> stopping = false;
  std::mutex mutex;  // of `rate` and `on_bad`
  const std::int64_t begin = base::monotonic_ns();
  const auto seconds = [&] { return static_cast<double>(base::monotonic_ns() - begin) / 1e9; };
  const auto read_on = [&] {
    FileBytes bytes;
    std::string path;
    for (std::uint64_t i = next++; i < most && !stopping; i = next++) {
      const auto file = shards.read_sample(order.at(i), bytes, path);
      const std::string by = file ? decoded_by(*file) : "nothing";
      const std::lock_guard lock(mutex);
      ++rate.pictures;
      ++rate.by[by];
      rate.seconds = seconds();
      if (file) rate.bytes += file->size();
      if (!file) on_bad(order.at(i), file.error().message());
    }
  };
  std::vector<std::future<void>> readers;
  readers.reserve(static_cast<std::size_t>(options.threads));
  for (int i = 0; i < options.threads; ++i) readers.push_back(std::async(std::launch::async, read_on));
  for (const auto& reader : readers) {
    while (reader.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
      stopping = stopping || seconds() > options.seconds || !go_on();
  }
  return rate;
}

}  // namespace fullbore::image
