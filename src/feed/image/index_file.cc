#include "feed/image/index_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace fullbore::image {
namespace {

// Checkpoints of a picture of 65,500 x 65,500 pixels are 20 MB; a record that claims more is none.
constexpr std::uint32_t kMostBytes = 64u << 20;

std::unexpected<base::Error> failed(const char* what, const std::string& path) {
  return std::unexpected(base::Error::system(errno, fmt::format("cannot {} {}", what, path)));
}

// Against other processes; within one, writers take turns by themselves. Never waits: the holder may be stopped.
class Lock {
 public:
  explicit Lock(int file) : file_(file), held_(::flock(file, LOCK_EX | LOCK_NB) == 0) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (held_) ::flock(file_, LOCK_UN);
  }
  bool held() const { return held_; }

 private:
  const int file_;
  const bool held_;
};

std::uint64_t size_of(int file) {
  struct stat info = {};
  return ::fstat(file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

base::Expected<base::UniqueFd> open_file(const std::string& path, int flags) {
  // A FIFO of that name would block for ever, and a link might lead to somebody else's file.
  base::UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666));
  if (!file) return failed("open", path);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return failed("open", path);
  if (!S_ISREG(info.st_mode)) return base::fail(path + " is no regular file");
  return file;
}

bool is_refusal(int error_number) {
  return error_number == EACCES || error_number == EROFS || error_number == EPERM;
}

}  // namespace

base::Expected<IndexFile> IndexFile::open(const std::string& path) {
  bool writable = true;
  auto file = open_file(path, O_RDWR);
  if (!file && is_refusal(file.error().error_number())) {
    writable = false;
    file = open_file(path, O_RDONLY);
  }
  if (!file && file.error().error_number() == ENOENT) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (::faccessat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
      return failed("make", path);
    return IndexFile(path, base::UniqueFd(), true);
  }
  if (!file) return std::unexpected(file.error());
  IndexFile index(path, std::move(*file), writable);
  const IndexHead head = index.judge();
  if (head == IndexHead::kForeign) return base::fail(path + " is no index; remove it, or give another name");
  if (head == IndexHead::kOther && !writable)
    return base::fail(path + " is damaged, or an index of another version, and may not be written");
  return index;
}

// A file without a byte is one whose head is about to be written.
IndexHead IndexFile::judge() const {
  std::array<std::uint8_t, kIndexHeadBytes> head;
  const auto present = std::span(head).first(std::min<std::uint64_t>(size_of(file_.get()), head.size()));
  if (present.empty()) return IndexHead::kOther;
  return read(0, present) ? judge_index_head(present) : IndexHead::kForeign;
}

bool IndexFile::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

base::Expected<void> IndexFile::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  for (std::uint64_t at = offset; !bytes.empty();) {
    const ssize_t put = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      auto error = failed("write", path_);
      // If that fails too, readers find the block cut short.
      [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(offset));
      return error;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    at += static_cast<std::uint64_t>(put);
  }
  return {};
}

void IndexFile::read_new(const Found& found) {
  if (!file_) {
    auto file = open_file(path_, O_RDWR);  // another process may have made it
    if (!file) return;
    file_ = std::move(*file);
  }
  if (judge() != IndexHead::kGood) return;
  end_ = walk_index([this](std::uint64_t offset, std::span<std::uint8_t> bytes) { return read(offset, bytes); }, end_,
                    size_of(file_.get()), found);
}

std::optional<jpeg::Checkpoints> IndexFile::load(const IndexRecord& record) const {
  if (record.bytes == 0 || record.bytes > kMostBytes) return std::nullopt;
  thread_local std::vector<std::uint8_t> serialised;
  serialised.resize(record.bytes);
  if (!read(record.offset, serialised)) return std::nullopt;
  auto checkpoints = jpeg::Checkpoints::parse(serialised);
  if (!checkpoints) return std::nullopt;
  return std::move(*checkpoints);
}

base::Expected<void> IndexFile::begin_anew() {
  if (::ftruncate(file_.get(), 0) != 0) return failed("write", path_);
  end_ = kIndexHeadBytes;
  return write(0, make_index_head());
}

base::Expected<bool> IndexFile::add(const std::function<std::vector<IndexEntry>()>& make, const Found& found) {
  if (!file_) {
    auto file = open_file(path_, O_RDWR | O_CREAT);
    if (!file) return std::unexpected(file.error());
    file_ = std::move(*file);
  }
  const Lock lock(file_.get());
  if (!lock.held() && errno == EWOULDBLOCK) return false;
  if (!lock.held()) return failed("lock", path_);
  const IndexHead head = judge();
  if (head == IndexHead::kForeign) return base::fail(path_ + " is no index any more; remove it, or give another name");
  if (head == IndexHead::kOther) {
    if (auto begun = begin_anew(); !begun) return std::unexpected(begun.error());
  }
  read_new(found);
  const std::vector<IndexEntry> entries = make();
  if (entries.empty()) return true;
  // Behind the last sound block lies what was cut off or damaged.
  if (size_of(file_.get()) != end_ && ::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0)
    return failed("write", path_);
  if (auto written = write(end_, make_index_block(entries)); !written) return std::unexpected(written.error());
  read_new(found);
  return true;
}

}  // namespace fullbore::image
