#include "feed/image/shard_cache.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/clock.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "fullbore.shard/1";

// FNV-1a.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

template <typename T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

// Takes values off the front; after one that is not there all that follow are empty.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const std::string_view bytes = take_bytes(sizeof(value));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string_view take_text() { return take_bytes(take<std::uint32_t>()); }
  bool is_whole() const { return whole_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view take_bytes(std::size_t count) {
    if (count > rest_.size()) {
      whole_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
  bool whole_ = true;
};

std::optional<std::string> read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Beside it and renamed, because several processes of a job list the same data at once.
void write_all(const fs::path& file, std::string_view bytes) {
  std::error_code code;
  fs::create_directories(file.parent_path(), code);
  const fs::path beside = fmt::format("{}.{}.{}", file.string(), ::getpid(), base::monotonic_ns());
  std::ofstream out(beside, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) fs::rename(beside, file, code);
  if (!out || code) fs::remove(beside, code);
}

}  // namespace

std::string to_bytes(const ShardListing& listing, std::string_view path) {
  std::string bytes(kMagic);
  put_text(bytes, path);
  put(bytes, listing.version.bytes);
  put(bytes, listing.version.modified_ns);
  put(bytes, std::uint64_t{listing.samples.size()});
  for (const ShardSample& sample : listing.samples) {
    put_text(bytes, sample.name);
    put_text(bytes, sample.fault);
    put(bytes, sample.offset);
    put(bytes, sample.size);
    put(bytes, static_cast<std::uint8_t>(sample.label.has_value()));
    put(bytes, sample.label.value_or(0));
  }
  put(bytes, hash_of(bytes));
  return bytes;
}

std::optional<ShardListing> parse_listing(std::string_view bytes, std::string_view path) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (Taker(bytes.substr(content.size())).take<std::uint64_t>() != hash_of(content)) return std::nullopt;
  Taker taker(content.substr(kMagic.size()));
  if (taker.take_text() != path) return std::nullopt;
  ShardListing listing;
  listing.version.bytes = taker.take<std::uint64_t>();
  listing.version.modified_ns = taker.take<std::int64_t>();
  for (auto count = taker.take<std::uint64_t>(); count > 0 && taker.is_whole(); --count) {
    ShardSample& sample = listing.samples.emplace_back();
    sample.name = taker.take_text();
    sample.fault = taker.take_text();
    sample.offset = taker.take<std::uint64_t>();
    sample.size = taker.take<std::uint64_t>();
    const bool labelled = taker.take<std::uint8_t>() != 0;
    const auto label = taker.take<std::int64_t>();
    if (labelled) sample.label = label;
  }
  if (!taker.is_whole() || taker.left() != 0) return std::nullopt;
  return listing;
}

base::Expected<ShardListing> list_shard_cached(const std::string& path, const std::string& cache) {
  if (cache.empty()) return list_shard(path);
  std::error_code code;
  const std::string real = fs::canonical(path, code).string();
  if (code) return list_shard(path);  // which says what is wrong
  const fs::path file = fs::path(cache) / fmt::format("{:016x}", hash_of(real));
  struct stat now = {};
  if (::stat(real.c_str(), &now) == 0) {
    const ShardVersion version{static_cast<std::uint64_t>(now.st_size),
                               now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
    const auto bytes = read_all(file);
    auto kept = bytes ? parse_listing(*bytes, real) : std::nullopt;
    if (kept && kept->version == version) return std::move(*kept);
  }
  auto listing = list_shard(path);
  if (listing) write_all(file, to_bytes(*listing, real));
  return listing;
}

}  // namespace fullbore::image
