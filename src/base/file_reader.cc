#include "base/file_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/unique_fd.h"

namespace fullbore::base {
namespace {

constexpr std::size_t kMostBytes = 16u << 20;

std::string cannot(std::string_view verb, std::string_view path) {
  return "cannot " + std::string(verb) + " " + std::string(path);
}

}  // namespace

Expected<std::string> RealFiles::read(std::string_view path) const {
  const std::string full = root_ + std::string(path);
  UniqueFd fd(::open(full.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error::system(errno, cannot("open", full)));
  std::string content;
  char buffer[16384];
  while (content.size() < kMostBytes) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(Error::system(errno, cannot("read", full)));
    if (n == 0) break;
    content.append(buffer, static_cast<std::size_t>(n));
  }
  return content;
}

Expected<std::vector<std::string>> RealFiles::list(std::string_view directory) const {
  const std::string full = root_ + std::string(directory);
  DIR* dir = ::opendir(full.c_str());
  if (dir == nullptr) return std::unexpected(Error::system(errno, cannot("list", full)));
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  std::ranges::sort(names);
  return names;
}

Expected<std::string> RealFiles::read_link(std::string_view path) const {
  const std::string full = root_ + std::string(path);
  char target[PATH_MAX];
  const ssize_t n = ::readlink(full.c_str(), target, sizeof target);
  if (n < 0) return std::unexpected(Error::system(errno, cannot("read link", full)));
  return std::string(target, static_cast<std::size_t>(n));
}

Expected<std::string> InMemoryFiles::read(std::string_view path) const {
  const auto it = files_.find(std::string(path));
  if (it == files_.end()) return std::unexpected(Error::system(ENOENT, cannot("open", path)));
  return it->second;
}

Expected<std::vector<std::string>> InMemoryFiles::list(std::string_view directory) const {
  const std::string prefix = std::string(directory) + "/";
  std::vector<std::string> names;
  auto add = [&](const std::string& path) {
    if (!path.starts_with(prefix)) return;
    const std::string name = path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size());
    if (!name.empty()) names.push_back(name);
  };
  for (const auto& [path, content] : files_) add(path);
  for (const auto& [path, target] : links_) add(path);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  if (names.empty()) return std::unexpected(Error::system(ENOENT, cannot("list", directory)));
  return names;
}

Expected<std::string> InMemoryFiles::read_link(std::string_view path) const {
  const auto it = links_.find(std::string(path));
  if (it == links_.end()) return std::unexpected(Error::system(ENOENT, cannot("read link", path)));
  return it->second;
}

}  // namespace fullbore::base
