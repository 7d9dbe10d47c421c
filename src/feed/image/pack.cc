#include "feed/image/pack.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "feed/image/decoder.h"
#include "feed/image/shard_files.h"
#include "feed/image/shuffle.h"

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using base::Expected;

constexpr std::size_t kMostStem = 60;  // bytes: with number and extension the name stays in a ustar header

// The number makes it unique, the rest lets a person find the file: "00000012-n01440764_10026". A key ends at its first
// dot, so it has none.
std::string key_of(std::uint64_t number, std::string_view path) {
  std::string_view stem = path.substr(path.rfind('/') + 1);
  stem = stem.substr(0, std::min(stem.rfind('.'), kMostStem));
  std::string key = fmt::format("{:08}-{}", number, stem);
  for (char& c : key) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    if (!plain) c = '_';
  }
  return key;
}

class Packing {
 public:
  Packing(const Catalogue& catalogue, const std::string& folder, const PackOptions& options, PackResult& result)
      : catalogue_(catalogue), folder_(folder), options_(options), index_(result.index), shards_(catalogue) {
    if (options.shuffle) order_.emplace(catalogue.size(), *options.shuffle, 0);
    for (std::uint64_t i = 0; i < catalogue.size() && !labelled_; ++i) labelled_ = catalogue.label(i) != -1;
  }

  Expected<void> add(std::uint64_t place) {
    const std::uint64_t sample = order_ ? order_->at(place) : place;
    catalogue_.path(sample, path_);
    const auto picture = shards_.read_sample(sample, file_, path_);
    if (!picture) return leave_out(sample, picture.error().message());
    const auto extension = picture_extension(*picture);
    if (!extension) return leave_out(sample, fmt::format("{}, which is not decoded here", describe_unknown(*picture)));
    const std::uint64_t growth = ShardWriter::growth(picture->size(), labelled_);
    if (writer_ && writer_->samples() > 0 && writer_->bytes() + growth > options_.shard_bytes) {
      if (auto done = finish_shard(place); !done) return done;
    }
    if (!writer_) {
      auto writer = ShardWriter::create(folder_, fmt::format("shard-{:06}.tar", index_.shards.size()));
      if (!writer) return std::unexpected(writer.error());
      writer_.emplace(std::move(*writer));
    }
    const std::int64_t label = catalogue_.label(sample);
    return writer_->add(key_of(place, path_), *extension, *picture, labelled_ ? &label : nullptr);
  }

  // What was added so far is on the disk and in the index; `next` is the first place after it.
  Expected<void> finish_shard(std::uint64_t next) {
    if (writer_) {
      auto shard = writer_->finish();
      if (!shard) return std::unexpected(shard.error());
      writer_.reset();
      index_.shards.push_back(std::move(*shard));
    }
    index_.next = next;
    std::ranges::move(left_out_, std::back_inserter(index_.left_out));
    left_out_.clear();
    return write_pack_index(index_, folder_);
  }

 private:
  Expected<void> leave_out(std::uint64_t sample, const std::string& reason) {
    if (!options_.skip_bad)
      return base::fail(fmt::format("cannot pack sample {}, {}: {}; --skip-bad leaves it out", sample, path_, reason));
    left_out_.push_back({path_, reason});
    return {};
  }

  const Catalogue& catalogue_;
  const std::string& folder_;
  const PackOptions& options_;
  PackIndex& index_;
  ShardFiles shards_;
  std::optional<Shuffle> order_;
  bool labelled_ = false;
  std::optional<ShardWriter> writer_;
  std::vector<PackIndex::LeftOut> left_out_;  // since the last finished shard
  FileBytes file_;
  std::string path_;
};

// The index to go on with: that of the folder, or a new one.
Expected<PackIndex> begin_index(const Catalogue& catalogue, const std::string& folder, const PackOptions& options) {
  PackIndex fresh;
  fresh.data = catalogue.fingerprint();
  fresh.samples = catalogue.size();
  fresh.shard_bytes = options.shard_bytes;
  fresh.shuffle = options.shuffle;
  fresh.classes = catalogue.classes();
  auto found = read_pack_index(folder);
  if (!found) return std::unexpected(found.error());
  if (!*found) {
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
      if (entry->path().extension() == ".tar")
        return base::fail(fmt::format("{} has {} in it, which is of no pack; choose another folder", folder,
                                      entry->path().filename().string()));
    }
    // Before the first shard: a folder with shards and no index is taken for another's.
    if (auto written = write_pack_index(fresh, folder); !written) return std::unexpected(written.error());
    return fresh;
  }
  const PackIndex& before = **found;
  if (before.data != fresh.data || before.samples != fresh.samples)
    return base::fail(
        fmt::format("{} was begun with other files or labels; remove it, or choose another folder", folder));
  if (before.shard_bytes != fresh.shard_bytes || before.shuffle != fresh.shuffle)
    return base::fail(
        fmt::format("{} was begun with another --shard-size or --shuffle; use the same, or remove it", folder));
  for (const WrittenShard& shard : before.shards) {
    std::error_code code;
    const std::uint64_t bytes = fs::file_size(folder + "/" + shard.name, code);
    if (code || bytes != shard.bytes)
      return base::fail(
          fmt::format("{}/{} is not the shard of {} bytes that was packed; remove the folder and pack again", folder,
                      shard.name, shard.bytes));
  }
  return before;
}

}  // namespace

base::Expected<PackResult> pack(const Catalogue& catalogue, const std::string& folder, const PackOptions& options,
                                const std::function<bool(const PackProgress&)>& go_on) {
  std::error_code code;
  fs::create_directories(folder, code);
  const base::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return std::unexpected(base::Error::system(errno, "cannot use the folder " + folder));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return base::fail(fmt::format("another process packs into {}", folder));
  auto index = begin_index(catalogue, folder, options);
  if (!index) return std::unexpected(index.error());
  PackResult result;
  result.index = std::move(*index);
  result.resumed_at = result.index.next;
  if (result.index.is_complete()) return result;
  Packing packing(catalogue, folder, options, result);
  for (std::uint64_t place = result.resumed_at; place < catalogue.size(); ++place) {
    if (!go_on({place, catalogue.size()})) {
      result.stopped = true;
      return result;
    }
    if (auto done = packing.add(place); !done) return std::unexpected(done.error());
  }
  if (auto done = packing.finish_shard(catalogue.size()); !done) return std::unexpected(done.error());
  return result;
}

}  // namespace fullbore::image
