// All samples of a data set: where each lies and what its label is. A sample's number in here is its name everywhere:
// in the plan, in states and in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullbore::image {

// Paths lie behind each other in one string: 1.3 million of them cost 60 MB less than as strings of their own.
class Catalogue {
 public:
  // Paths are relative to `root`, unless they begin with a slash.
  explicit Catalogue(std::string root) : root_(std::move(root)) {}

  void add(std::string_view path, std::int64_t label);
  void set_classes(std::vector<std::string> names) { classes_ = std::move(names); }

  std::uint64_t size() const { return labels_.size(); }
  std::int64_t label(std::uint64_t sample) const { return labels_[sample]; }
  // As it was added.
  std::string_view name(std::uint64_t sample) const;
  // Writes the path to open into `path`, whose memory is used again.
  void path(std::uint64_t sample, std::string& path) const;
  // A label is an index of these; empty where labels are numbers of the user's own.
  const std::vector<std::string>& classes() const { return classes_; }
  // 64 bits of all names and labels in their order: whether a state belongs to this data.
  std::uint64_t fingerprint() const;

 private:
  std::string root_;
  std::string names_;
  std::vector<std::uint64_t> ends_;  // in names_
  std::vector<std::int64_t> labels_;
  std::vector<std::string> classes_;
};

}  // namespace fullbore::image
