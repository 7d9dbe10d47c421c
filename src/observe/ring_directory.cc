#include "observe/ring_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/unique_fd.h"
#include "observe/process_tree.h"

namespace fullbore::observe {
namespace {

constexpr std::string_view kPrefix = "fullbore-rings-";
constexpr const char* kOwnerFile = "owner";
constexpr std::uint64_t kLargestRingBytes = 1u << 20;
constexpr std::uint64_t kSmallestRingBytes = 16u << 10;
constexpr std::uint64_t kRingsExpected = 32;

// Links are refused at the last component: what is removed or trusted must be the folder itself.
base::UniqueFd open_directory(int at, const char* path) {
  return base::UniqueFd(::openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_in(int directory_fd) {
  std::vector<std::string> names;
  const int copy = ::openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

void remove_files_in(int directory_fd) {
  for (const std::string& name : names_in(directory_fd)) ::unlinkat(directory_fd, name.c_str(), 0);
}

// "PID START_TICKS PID_NAMESPACE": a pid alone may be reused, or mean another process in another container.
std::string owner_text(std::uint32_t pid, const base::FileReader& files) {
  const auto stat = read_process_stat(files, pid);
  const auto space = files.read_link("/proc/self/ns/pid");
  return fmt::format("{} {} {}", pid, stat ? stat->start_ticks : 0, space ? *space : "unknown");
}

bool owner_is_dead(int directory_fd, const base::FileReader& files) {
  base::UniqueFd fd(::openat(directory_fd, kOwnerFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  char text[256];
  const ssize_t n = fd ? ::read(fd.get(), text, sizeof text) : -1;
  if (n <= 0) return false;
  const std::string owner(text, static_cast<std::size_t>(n));
  const auto pid = static_cast<std::uint32_t>(std::strtoul(owner.c_str(), nullptr, 10));
  const auto space = files.read_link("/proc/self/ns/pid");
  if (pid == 0 || !space || !owner.ends_with(" " + *space)) return false;
  return owner_text(pid, files) != owner;
}

bool write_owner(const std::string& directory, const base::FileReader& files) {
  const std::string text = owner_text(static_cast<std::uint32_t>(::getpid()), files);
  const std::string path = directory + "/" + kOwnerFile;
  base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Bytes of one ring that fit below `parent`, or why none does.
base::Expected<std::uint64_t> room_in(const std::string& parent) {
  const base::UniqueFd fd = open_directory(AT_FDCWD, parent.c_str());
  if (!fd) return std::unexpected(base::Error::system(errno, parent));
  struct statfs status = {};
  if (::fstatfs(fd.get(), &status) != 0) return std::unexpected(base::Error::system(errno, parent));
  if (status.f_type != TMPFS_MAGIC && status.f_type != RAMFS_MAGIC) return base::fail(parent + ": not a tmpfs");
  const std::uint64_t free_bytes = status.f_bavail * static_cast<std::uint64_t>(status.f_bsize);
  // A tmpfs without a size limit reports 0 blocks of everything.
  const std::uint64_t ring_bytes = status.f_blocks == 0 ? kLargestRingBytes : choose_ring_bytes(free_bytes);
  if (ring_bytes == 0) return base::fail(fmt::format("{}: only {} KiB free", parent, free_bytes >> 10));
  return ring_bytes;
}

}  // namespace

std::vector<std::string> ring_parents(std::string_view xdg_runtime_dir) {
  std::vector<std::string> parents = {"/dev/shm"};
  if (xdg_runtime_dir.starts_with('/')) parents.emplace_back(xdg_runtime_dir);
  parents.insert(parents.end(), {"/run", "/tmp"});
  return parents;
}

std::uint64_t choose_ring_bytes(std::uint64_t free_bytes) {
  const std::uint64_t share = free_bytes / 8 / kRingsExpected;
  if (share < kSmallestRingBytes) return 0;
  return std::min(kLargestRingBytes, std::bit_floor(share));
}

base::Expected<RingDirectory> RingDirectory::create(const std::vector<std::string>& parents,
                                                    const base::FileReader& files) {
  std::string reasons;
  auto refuse = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  for (const std::string& parent : parents) {
    const auto ring_bytes = room_in(parent);
    if (!ring_bytes) {
      refuse(ring_bytes.error().message());
      continue;
    }
    std::string path = fmt::format("{}/{}XXXXXX", parent, kPrefix);
    if (::mkdtemp(path.data()) == nullptr) {
      refuse(base::Error::system(errno, parent).message());
      continue;
    }
    RingDirectory directory(path, *ring_bytes);
    if (write_owner(path, files)) return directory;
    refuse(base::Error::system(errno, "cannot write in " + path).message());
  }
  return base::fail("no tmpfs with room for rings (" + reasons + ")");
}

RingDirectory RingDirectory::adopt(std::string path) {
  return {std::move(path), 0};
}

RingDirectory::RingDirectory(RingDirectory&& other) noexcept
    : path_(std::exchange(other.path_, "")), ring_bytes_(other.ring_bytes_) {}

void RingDirectory::remove() {
  if (path_.empty()) return;
  if (const base::UniqueFd fd = open_directory(AT_FDCWD, path_.c_str())) remove_files_in(fd.get());
  ::rmdir(path_.c_str());
  path_.clear();
}

void remove_stale_ring_directories(const std::vector<std::string>& parents, const base::FileReader& files) {
  for (const std::string& parent : parents) {
    const base::UniqueFd parent_fd = open_directory(AT_FDCWD, parent.c_str());
    if (!parent_fd) continue;
    for (const std::string& name : names_in(parent_fd.get())) {
      if (!name.starts_with(kPrefix)) continue;
      const base::UniqueFd fd = open_directory(parent_fd.get(), name.c_str());
      struct stat status = {};
      if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
      if (!owner_is_dead(fd.get(), files)) continue;
      remove_files_in(fd.get());
      ::unlinkat(parent_fd.get(), name.c_str(), AT_REMOVEDIR);
    }
  }
}

}  // namespace fullbore::observe
