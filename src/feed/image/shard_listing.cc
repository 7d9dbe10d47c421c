#include "feed/image/shard_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "feed/image/shard_files.h"

namespace fullbore::image {
namespace {

using base::Expected;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

bool is_picture(std::string_view extension) {
  static constexpr std::array<std::string_view, 4> kExtensions = {"jpg", "jpeg", "png", "webp"};
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

std::optional<std::int64_t> label_of_cls(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").contains(text.back())) text.remove_suffix(1);
  while (!text.empty() && std::string_view(" \t\r\n").contains(text.front())) text.remove_prefix(1);
  std::int64_t label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return label;
}

std::optional<std::int64_t> label_of_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto label = json.find("label");
  if (label == json.end() || !label->is_number_integer()) return std::nullopt;
  return label->get<std::int64_t>();
}

// The samples of one shard as they come together: the members of a key may stand in any order.
class Grouping {
 public:
  void add_picture(const TarMember& member, std::string_view key) {
    ShardSample sample{member.name, member.offset, member.size, std::nullopt, {}};
    Key& known = keys_[std::string(key)];
    if (member.is_link) {
      sample.fault = "a link to another member; write the archive with its content";
    } else if (known.picture) {
      sample.fault = fmt::format("a second picture of its key; the first one is at byte {}", *known.picture);
    } else {
      known.picture = member.offset;
      known.sample = samples_.size();
    }
    samples_.push_back(std::move(sample));
  }

  // `is_better`: of a .cls, which counts more than a .json.
  void add_label(std::string_view key, std::optional<std::int64_t> label, bool is_better) {
    Key& known = keys_[std::string(key)];
    if (known.has_cls) return;
    known.has_cls = is_better;
    known.has_label = true;
    known.label = label;
  }

  void add_damage(const TarError& error) {
    samples_.push_back({error.member ? error.member->name : "", error.offset, 0, std::nullopt, error.message});
  }

  std::vector<ShardSample> finish() {
    for (const auto& [key, known] : keys_) {
      if (!known.picture || !known.has_label) continue;
      ShardSample& sample = samples_[known.sample];
      sample.label = known.label;
      if (!known.label) sample.fault = "its .cls is no whole number";
    }
    return std::move(samples_);
  }

 private:
  struct Key {
    std::optional<std::uint64_t> picture;  // its first byte
    std::size_t sample = 0;
    bool has_label = false, has_cls = false;
    std::optional<std::int64_t> label;
  };

  std::unordered_map<std::string, Key> keys_;
  std::vector<ShardSample> samples_;
};

}  // namespace

std::expected<std::vector<ShardSample>, TarError> list_members(TarReader& reader) {
  Grouping grouping;
  for (;;) {
    const auto member = reader.next();
    if (!member) {
      const TarError& error = member.error();
      if (error.kind == TarError::Kind::kNotATar || error.kind == TarError::Kind::kUnreadable)
        return std::unexpected(error);
      grouping.add_damage(error);
      return grouping.finish();
    }
    if (!*member) return grouping.finish();
    const TarMember& found = **member;
    const auto name = split_member_name(found.name);
    if (!name || !(found.is_file || found.is_link)) continue;
    const std::string extension = lower(name->extension);
    if (is_picture(extension)) {
      grouping.add_picture(found, name->key);
    } else if ((extension == "cls" || extension == "json") && found.is_file) {
      const auto text = reader.text(found);
      if (!text) return std::unexpected(text.error());
      if (extension == "cls") grouping.add_label(name->key, label_of_cls(*text), true);
      // Other things are kept in .json files too.
      else if (const auto label = label_of_json(*text))
        grouping.add_label(name->key, label, false);
    }
  }
}

Expected<ShardListing> list_shard(const std::string& path) {
  const auto shard = OpenShard::open(path);
  if (!shard) return std::unexpected(shard.error());
  const ShardVersion version = (*shard)->version();
  if (version.bytes == 0) return base::fail(fmt::format("the shard {} is empty: 0 bytes", path));
  TarReader reader([&](std::uint64_t offset, std::span<std::uint8_t> out) { return (*shard)->read(offset, out); },
                   version.bytes);
  auto samples = list_members(reader);
  if (!samples) {
    const TarError& error = samples.error();
    const std::string member = error.member ? fmt::format(", member {}", error.member->name) : "";
    return base::fail(
        fmt::format("cannot use the shard {}{} at byte {}: {}", path, member, error.offset, error.message));
  }
  return ShardListing{version, std::move(*samples)};
}

}  // namespace fullbore::image
