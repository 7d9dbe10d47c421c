// Reading small files, lists and links under a root that is handed in. Every reader of /proc and /sys takes one, so a
// test can give it a stored tree (RealFiles with another root) or a handful of texts (InMemoryFiles).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fullbore::base {

// Paths are absolute as the kernel documents them ("/proc/self/stat"), whatever the root. Thread safe.
class FileReader {
 public:
  virtual ~FileReader() = default;

  // Whole content. /proc files report size 0, so it is read to the end, at most 16 MiB.
  virtual Expected<std::string> read(std::string_view path) const = 0;
  // Names in a directory without "." and "..", sorted.
  virtual Expected<std::vector<std::string>> list(std::string_view directory) const = 0;
  // Target of a symbolic link.
  virtual Expected<std::string> read_link(std::string_view path) const = 0;
};

class RealFiles final : public FileReader {
 public:
  explicit RealFiles(std::string root = "") : root_(std::move(root)) {}
  Expected<std::string> read(std::string_view path) const override;
  Expected<std::vector<std::string>> list(std::string_view directory) const override;
  Expected<std::string> read_link(std::string_view path) const override;

 private:
  std::string root_;
};

class InMemoryFiles final : public FileReader {
 public:
  InMemoryFiles(std::map<std::string, std::string> files, std::map<std::string, std::string> links = {})
      : files_(std::move(files)), links_(std::move(links)) {}
  Expected<std::string> read(std::string_view path) const override;
  Expected<std::vector<std::string>> list(std::string_view directory) const override;
  Expected<std::string> read_link(std::string_view path) const override;
  // A test changes the world between two readings.
  void set(const std::string& path, std::string content) { files_[path] = std::move(content); }
  void remove(const std::string& path) { files_.erase(path); }

 private:
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> links_;
};

}  // namespace fullbore::base
