#include "feed/image/catalogue.h"

#include <filesystem>

namespace fullbore::image {
namespace {

// FNV-1a.
void fold(std::uint64_t& hash, std::string_view bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

}  // namespace

void Catalogue::add(std::string_view path, std::span<const std::int64_t> labels) {
  names_ += path;
  ends_.push_back(names_.size());
  labels_.insert(labels_.end(), labels.begin(), labels.end());
}

std::uint32_t Catalogue::add_shard(Shard shard) {
  shards_.push_back(std::move(shard));
  return static_cast<std::uint32_t>(shards_.size() - 1);
}

void Catalogue::add_member(std::string_view name, std::int64_t label, const Member& member) {
  add(name, label);
  members_.push_back(member);
}

std::optional<Catalogue::Member> Catalogue::member(std::uint64_t sample) const {
  return members_.empty() ? std::nullopt : std::optional(members_[sample]);
}

const std::string* Catalogue::fault(std::uint64_t sample) const {
  const auto found = faults_.find(sample);
  return found == faults_.end() ? nullptr : &found->second;
}

std::string_view Catalogue::name(std::uint64_t sample) const {
  const std::uint64_t begin = sample == 0 ? 0 : ends_[sample - 1];
  return std::string_view(names_).substr(begin, ends_[sample] - begin);
}

std::string Catalogue::index_key(std::uint64_t sample) const {
  const auto place = member(sample);
  if (!place) return std::string(name(sample));
  return std::filesystem::path(shard(place->shard).path).filename().string() + "/" + std::string(name(sample));
}

void Catalogue::path(std::uint64_t sample, std::string& path) const {
  const std::string_view inside = name(sample);
  path.clear();
  if (const auto place = member(sample)) {
    path += shard(place->shard).path;
    if (!inside.empty()) (path += '/') += inside;
    return;
  }
  if (!inside.starts_with('/') && !root_.empty()) {
    path += root_;
    if (!root_.ends_with('/')) path += '/';
  }
  path += inside;
}

std::uint64_t Catalogue::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < size(); ++i) {
    fold(hash, name(i));
    fold(hash, {reinterpret_cast<const char*>(labels(i).data()), labels(i).size_bytes()});
  }
  return hash;
}

}  // namespace fullbore::image
