// For the tests of samplers: a world in memory in which some files exist but may not be read.
#pragma once

#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "base/file_reader.h"

namespace fullbore::observe {

class DenyingFiles final : public base::FileReader {
 public:
  DenyingFiles(std::map<std::string, std::string> files, std::set<std::string> denied)
      : files_(std::move(files)), denied_(std::move(denied)) {}

  base::Expected<std::string> read(std::string_view path) const override {
    if (denied_.contains(std::string(path))) return deny("open", path);
    return files_.read(path);
  }
  base::Expected<std::vector<std::string>> list(std::string_view directory) const override {
    if (denied_.contains(std::string(directory))) return std::unexpected(deny("list", directory).error());
    return files_.list(directory);
  }
  base::Expected<std::string> read_link(std::string_view path) const override { return files_.read_link(path); }

 private:
  static base::Expected<std::string> deny(std::string_view verb, std::string_view path) {
    return std::unexpected(base::Error::system(EACCES, "cannot " + std::string(verb) + " " + std::string(path)));
  }

  base::InMemoryFiles files_;
  std::set<std::string> denied_;
};

}  // namespace fullbore::observe
