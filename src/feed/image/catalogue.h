// All samples of a data set: where each lies and what its label is. A sample's number in here is its name everywhere:
// in the plan, in states and in messages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fullbore/image_fields.h"

namespace fullbore::image {

// By which a changed shard is told.
struct ShardVersion {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const ShardVersion&) const = default;
};

// What a list says of its samples besides their labels, one value for each.
struct Field {
  std::string name;
  FieldValues values;
};

// Paths lie behind each other in one string: 1.3 million of them cost 60 MB less than as strings of their own.
class Catalogue {
 public:
  // Where a picture lies in a tar shard.
  struct Member {
    std::uint32_t shard = 0;
    std::uint64_t offset = 0;  // of its first byte, or of what is wrong with it
    std::uint64_t size = 0;
  };
  struct Shard {
    std::string path;
    ShardVersion version;
  };

  // Paths are relative to `root`, unless they begin with a slash.
  explicit Catalogue(std::string root, std::size_t labels = 1) : root_(std::move(root)), classes_(labels) {}

  void add(std::string_view path, std::int64_t label) { add(path, std::span(&label, 1)); }
  // As many labels as the catalogue has of each sample.
  void add(std::string_view path, std::span<const std::int64_t> labels);
  // A data set has files or members of shards, never both.
  std::uint32_t add_shard(Shard shard);
  void add_member(std::string_view name, std::int64_t label, const Member& member);
  // The sample added last cannot be read.
  void set_fault(std::string why) { faults_[size() - 1] = std::move(why); }
  void add_field(Field field) { fields_.push_back(std::move(field)); }
  void set_classes(std::vector<std::string> names, std::size_t label = 0) { classes_[label] = std::move(names); }

  std::uint64_t size() const { return ends_.size(); }
  std::size_t labels_of_each() const { return classes_.size(); }
  std::span<const std::int64_t> labels(std::uint64_t sample) const {
    return std::span(labels_).subspan(sample * labels_of_each(), labels_of_each());
  }
  std::int64_t label(std::uint64_t sample) const { return labels(sample).front(); }
  // As it was added.
  std::string_view name(std::uint64_t sample) const;
  // By which the index of the data set knows it: its name, or that of the shard's file and of the member.
  std::string index_key(std::uint64_t sample) const;
  // Writes the path to open, or SHARD/MEMBER, into `path`, whose memory is used again.
  void path(std::uint64_t sample, std::string& path) const;
  std::optional<Member> member(std::uint64_t sample) const;
  bool has_shards() const { return !shards_.empty(); }
  const Shard& shard(std::uint32_t number) const { return shards_[number]; }
  // What was found wrong with it when it was listed; null: nothing.
  const std::string* fault(std::uint64_t sample) const;
  // A label is an index of these; empty where labels are numbers of the user's own.
  const std::vector<std::string>& classes(std::size_t label = 0) const { return classes_[label]; }
  const std::vector<Field>& fields() const { return fields_; }
  // 64 bits of all names and labels in their order: whether a state belongs to this data.
  std::uint64_t fingerprint() const;

 private:
  std::string root_;
  std::string names_;
  std::vector<std::uint64_t> ends_;   // in names_
  std::vector<std::int64_t> labels_;  // of a sample behind each other
  std::vector<std::vector<std::string>> classes_;
  std::vector<Field> fields_;
  std::vector<Member> members_;  // of all samples, or of none
  std::vector<Shard> shards_;
  std::map<std::uint64_t, std::string> faults_;
};

}  // namespace fullbore::image
