#include "feed/image/tar_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace fullbore::image {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMostExtension = std::uint64_t{1} << 20;  // of a pax header or a long name

using Block = std::span<const std::uint8_t>;

// POSIX.1-2017, pax, "ustar Interchange Format".
struct Field {
  std::size_t offset, size;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 5}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

std::string_view text_of(Block block, Field field) {
  const auto* begin = reinterpret_cast<const char*>(block.data()) + field.offset;
  return {begin, ::strnlen(begin, field.size)};
}

// Octal digits, or GNU's binary form, whose first bit is set. Nothing for what is neither, or negative.
std::optional<std::uint64_t> number_of(Block block, Field field) {
  const Block bytes = block.subspan(field.offset, field.size);
  std::uint64_t value = 0;
  if ((bytes[0] & 0x80) != 0) {
    if (bytes[0] != 0x80) return std::nullopt;
    for (const std::uint8_t byte : bytes.subspan(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | byte;
    }
    return value;
  }
  std::string_view digits = text_of(block, field);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole || digits.empty() ? std::optional(value) : std::nullopt;
}

bool is_zero(Block block) {
  return std::ranges::all_of(block, [](std::uint8_t byte) { return byte == 0; });
}

// The sum of all bytes, those of the checksum itself taken for blanks. Old programs added signed ones.
bool checksum_holds(Block block) {
  const auto stored = number_of(block, kChecksum);
  std::int64_t plain = 0, with_sign = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool inside = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    plain += inside ? ' ' : block[i];
    with_sign += inside ? ' ' : static_cast<std::int8_t>(block[i]);
  }
  return stored && (*stored == static_cast<std::uint64_t>(plain) || *stored == static_cast<std::uint64_t>(with_sign));
}

// By the first bytes of the file.
std::string_view describe_not_tar(Block block) {
  using namespace std::string_view_literals;
  const std::string_view bytes(reinterpret_cast<const char*>(block.data()), block.size());
  if (bytes.starts_with("\x1f\x8b"sv)) return "compressed by gzip; members cannot be found in it: gunzip it";
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return "compressed by zstd; members cannot be found in it: unzstd it";
  if (bytes.starts_with("\xfd\x37zXZ"sv)) return "compressed by xz; members cannot be found in it: unxz it";
  if (bytes.starts_with("BZh"sv)) return "compressed by bzip2; members cannot be found in it: bunzip2 it";
  if (bytes.starts_with("PK"sv)) return "a zip archive, not a tar";
  return "not a tar archive: it does not begin with a header";
}

struct PaxRecord {
  std::string_view key, value;
};

// "LENGTH KEY=VALUE\n", where LENGTH counts itself. Takes it off `text`.
std::optional<PaxRecord> take_record(std::string_view& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length > text.size() || digits + 2 > length) return std::nullopt;
  if (text[digits] != ' ' || text[length - 1] != '\n') return std::nullopt;
  const std::string_view record = text.substr(digits + 1, length - digits - 2);
  const std::size_t equals = record.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  text.remove_prefix(length);
  return PaxRecord{record.substr(0, equals), record.substr(equals + 1)};
}

}  // namespace

struct TarReader::Header {
  std::uint64_t offset = 0;
  bool is_end = false;
  char type = '0';
  std::string name;
  std::uint64_t size = 0;
};

std::unexpected<TarError> TarReader::damaged(std::uint64_t offset, std::string message) const {
  return std::unexpected(TarError{TarError::Kind::kDamaged, offset, std::move(message)});
}

std::expected<std::span<const std::uint8_t>, TarError> TarReader::bytes(std::uint64_t offset, std::uint64_t count) {
  if (offset < window_begin_ || offset + count > window_begin_ + window_bytes_) {
    window_begin_ = offset;
    window_bytes_ = static_cast<std::size_t>(std::min<std::uint64_t>(window_.size(), size_ - offset));
    if (auto done = read_(offset, std::span(window_).first(window_bytes_)); !done) {
      window_bytes_ = 0;
      return std::unexpected(TarError{TarError::Kind::kUnreadable, offset, done.error().message()});
    }
  }
  return std::span<const std::uint8_t>(window_).subspan(static_cast<std::size_t>(offset - window_begin_),
                                                        static_cast<std::size_t>(count));
}

std::expected<std::string, TarError> TarReader::text(const TarMember& member) {
  std::string text;
  if (member.size > kMostText) return text;
  if (member.size <= window_.size()) {
    const auto content = bytes(member.offset, member.size);
    if (!content) return std::unexpected(content.error());
    return text.assign(reinterpret_cast<const char*>(content->data()), content->size());
  }
  text.resize(static_cast<std::size_t>(member.size));
  if (auto done = read_(member.offset, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}); !done)
    return std::unexpected(TarError{TarError::Kind::kUnreadable, member.offset, done.error().message()});
  return text;
}

std::expected<TarReader::Header, TarError> TarReader::read_header() {
  Header header;
  header.offset = at_;
  if (at_ >= size_) {
    header.is_end = true;
    return header;
  }
  const auto block = bytes(at_, std::min(kBlock, size_ - at_));
  if (!block) return std::unexpected(block.error());
  const bool whole = block->size() == kBlock;
  if (at_ == 0 && !(whole && (is_zero(*block) || checksum_holds(*block))))
    return std::unexpected(TarError{TarError::Kind::kNotATar, 0, std::string(describe_not_tar(*block))});
  if (!whole) return damaged(at_, fmt::format("the archive ends in the middle of a header, at byte {}", size_));
  if (is_zero(*block)) {
    header.is_end = true;
    return header;
  }
  if (!checksum_holds(*block)) return damaged(at_, "a header whose checksum is wrong; what follows it cannot be found");
  const auto size = number_of(*block, kSize);
  if (!size) return damaged(at_, "a header whose size is no number");
  header.type = static_cast<char>((*block)[kType]);
  header.size = *size;
  // Only POSIX's own form has a prefix; GNU's has times there.
  const bool is_posix = text_of(*block, {kMagic.offset, kMagic.size + 1}) == "ustar";
  if (is_posix && (*block)[kPrefix.offset] != 0) header.name.append(text_of(*block, kPrefix)).append("/");
  header.name += text_of(*block, kName);
  at_ += kBlock;
  return header;
}

std::expected<void, TarError> TarReader::read_extension(const Header& header, Extension& extension) {
  if (header.size > kMostExtension)
    return damaged(header.offset, fmt::format("a name or pax header of {} bytes", header.size));
  if (header.size > size_ - at_)
    return damaged(header.offset, fmt::format("the archive ends in the middle of a name, at byte {}", size_));
  auto content = text({header.name, header.offset, at_, header.size});
  if (!content) return std::unexpected(content.error());
  at_ += std::min((header.size + kBlock - 1) / kBlock * kBlock, size_ - at_);
  if (header.type == 'L') extension.name = content->substr(0, content->find('\0'));
  if (header.type != 'x') return {};
  for (std::string_view rest = *content; !rest.empty();) {
    const auto record = take_record(rest);
    if (!record) return damaged(header.offset, "a pax header that cannot be parsed");
    if (record->key == "path") extension.name = record->value;
    if (record->key.starts_with("GNU.sparse.")) extension.sparse = true;
    if (record->key == "size") {
      std::uint64_t size = 0;
      const char* const end = record->value.data() + record->value.size();
      if (std::from_chars(record->value.data(), end, size).ptr != end || record->value.empty())
        return damaged(header.offset, "a pax header whose size is no number");
      extension.size = size;
    }
  }
  return {};
}

std::expected<std::optional<TarMember>, TarError> TarReader::next() {
  const std::uint64_t begin = at_;
  Extension extension;
  for (;;) {
    auto header = read_header();
    if (!header) return std::unexpected(std::move(header.error()));
    if (header->is_end) {
      at_ = size_;
      return std::nullopt;
    }
    // g: defaults for all members, which writers use for comments alone; K: the target of a link.
    if (std::string_view("xgLK").contains(header->type)) {
      if (auto read = read_extension(*header, extension); !read) return std::unexpected(std::move(read.error()));
      continue;
    }
    TarMember member{std::move(header->name), begin, at_, extension.size.value_or(header->size)};
    if (extension.name) member.name = std::move(*extension.name);
    if (extension.sparse || header->type == 'S')
      return std::unexpected(TarError{TarError::Kind::kNotATar, begin,
                                      "a sparse member, which is not read; write the archive without --sparse",
                                      std::move(member)});
    const bool is_plain = std::string_view("07").contains(header->type) || header->type == '\0';
    member.is_file = is_plain && !member.name.ends_with('/');  // which once meant a folder
    member.is_link = std::string_view("12").contains(header->type);
    // Links, devices, folders: some writers give them the size of what they stand for, but no content follows.
    if (header->type >= '1' && header->type <= '6') member.size = 0;
    if (member.size > size_ - at_) {
      const std::string message =
          fmt::format("a member of {} bytes, of which the archive has {}: it was cut short", member.size, size_ - at_);
      at_ = size_;
      return std::unexpected(TarError{TarError::Kind::kCut, begin, message, std::move(member)});
    }
    at_ += member.size;
    at_ += std::min((kBlock - member.size % kBlock) % kBlock, size_ - at_);
    return member;
  }
}

std::optional<MemberName> split_member_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return MemberName{name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace fullbore::image
