#include "feed/image/shard_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "feed/image/shard_files.h"
#include "feed/image/shard_listing.h"
#include "feed/image/tar_writer.h"

namespace fullbore::image {
namespace {

using base::Expected;

constexpr std::size_t kBuffer = std::size_t{1} << 20;
// Above what fmt writes of any label.
constexpr std::uint64_t kLabelMember = 2 * kTarBlock;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::uint32_t add_crc(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(::crc32_z(crc, bytes.data(), bytes.size()));
}

Expected<void> write_all(int file, std::span<const std::uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return std::unexpected(base::Error::system(errno, "cannot write " + path));
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

// A new name is on the disk only when its folder is.
Expected<void> rename_durably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return std::unexpected(base::Error::system(errno, fmt::format("cannot rename {} to {}", from, to)));
  const std::string folder = to.substr(0, to.rfind('/'));
  const base::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0)
    return std::unexpected(base::Error::system(errno, "cannot flush the folder " + folder));
  return {};
}

}  // namespace

ShardWriter::ShardWriter(std::string folder, std::string name, base::UniqueFd file)
    : folder_(std::move(folder)), partial_(fmt::format("{}/.{}.partial", folder_, name)), file_(std::move(file)) {
  shard_.name = std::move(name);
  buffer_.reserve(kBuffer);
}

ShardWriter::~ShardWriter() {
  if (file_ && !partial_.empty()) ::unlink(partial_.c_str());
}

Expected<ShardWriter> ShardWriter::create(const std::string& folder, const std::string& name) {
  const std::string path = fmt::format("{}/.{}.partial", folder, name);
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return std::unexpected(base::Error::system(errno, "cannot create " + path));
  return ShardWriter(folder, name, std::move(file));
}

std::unexpected<base::Error> ShardWriter::failed(const char* what) const {
  return std::unexpected(base::Error::system(errno, fmt::format("cannot {} {}", what, partial_)));
}

std::uint64_t ShardWriter::growth(std::uint64_t picture_bytes, bool labelled) {
  return kTarBlock + picture_bytes + tar_padding(picture_bytes) + (labelled ? kLabelMember : 0);
}

std::uint64_t ShardWriter::bytes() const {
  return shard_.bytes + buffer_.size() + kTarEndBytes;
}

Expected<void> ShardWriter::add(const std::string& key, std::string_view extension,
                                std::span<const std::uint8_t> picture, const std::int64_t* label) {
  if (auto done = add_member(fmt::format("{}.{}", key, extension), picture); !done) return done;
  ++shard_.samples;
  return label == nullptr ? Expected<void>() : add_member(key + ".cls", bytes_of(fmt::format("{}", *label)));
}

Expected<void> ShardWriter::add_member(const std::string& name, std::span<const std::uint8_t> content) {
  static constexpr std::array<std::uint8_t, kTarBlock> kZeros{};
  if (auto done = put(bytes_of(tar_header(name, content.size()))); !done) return done;
  if (auto done = put(content); !done) return done;
  return put(std::span(kZeros).first(static_cast<std::size_t>(tar_padding(content.size()))));
}

Expected<void> ShardWriter::put(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t some = std::min(kBuffer - buffer_.size(), bytes.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(some));
    bytes = bytes.subspan(some);
    if (buffer_.size() < kBuffer) continue;
    if (auto done = flush(); !done) return done;
  }
  return {};
}

Expected<void> ShardWriter::flush() {
  if (auto done = write_all(file_.get(), buffer_, partial_); !done) return done;
  shard_.crc32 = add_crc(shard_.crc32, buffer_);
  shard_.bytes += buffer_.size();
  buffer_.clear();
  return {};
}

Expected<WrittenShard> ShardWriter::finish() {
  static constexpr std::array<std::uint8_t, kTarEndBytes> kEnd{};
  if (auto done = put(kEnd); !done) return std::unexpected(done.error());
  if (auto done = flush(); !done) return std::unexpected(done.error());
  if (::fsync(file_.get()) != 0) return failed("flush");
  // So that what is read back comes from the disk, where the file system can be told to forget it.
  ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (auto done = verify(); !done) return std::unexpected(done.error());
  if (auto done = rename_durably(partial_, folder_ + "/" + shard_.name); !done) return std::unexpected(done.error());
  partial_.clear();
  return shard_;
}

Expected<void> ShardWriter::verify() const {
  std::vector<std::uint8_t> bytes(kBuffer);
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < shard_.bytes;) {
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read back");
    if (got == 0) return base::fail(fmt::format("{} ended at byte {} when read back", partial_, at));
    crc = add_crc(crc, std::span(bytes).first(static_cast<std::size_t>(got)));
    at += static_cast<std::uint64_t>(got);
  }
  if (crc != shard_.crc32)
    return base::fail(fmt::format("{} is not what was written when it is read back (crc32 {:08x}, written {:08x})",
                                  partial_, crc, shard_.crc32));
  const auto listing = list_shard(partial_);
  if (!listing) return std::unexpected(listing.error());
  const bool sound = std::ranges::all_of(listing->samples, [](const ShardSample& s) { return s.fault.empty(); });
  if (!sound || listing->samples.size() != shard_.samples)
    return base::fail(fmt::format("{} has {} samples when it is listed, and {} were written", partial_,
                                  listing->samples.size(), shard_.samples));
  return {};
}

Expected<void> replace_file(const std::string& path, std::string_view content) {
  const std::string beside = path + ".partial";
  const base::UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return std::unexpected(base::Error::system(errno, "cannot create " + beside));
  auto done = write_all(file.get(), bytes_of(content), beside);
  if (done && ::fsync(file.get()) != 0) done = std::unexpected(base::Error::system(errno, "cannot flush " + beside));
  if (done) return rename_durably(beside, path);
  ::unlink(beside.c_str());
  return done;
}

}  // namespace fullbore::image
