// The members of a tar archive, one after the other, from its headers alone: ustar, pax (path, size), GNU long names,
// sizes of more than 8 GiB. What is wrong with an archive is told with the byte at which it begins.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"

namespace fullbore::image {

struct TarMember {
  std::string name;          // bytes as they are; no encoding is assumed
  std::uint64_t header = 0;  // offset of what belongs to it, its long name included
  std::uint64_t offset = 0;  // of its content
  std::uint64_t size = 0;
  bool is_file = false;  // not a folder, link or device
  bool is_link = false;  // to another member or file: has no content of its own
};

struct TarError {
  enum class Kind : std::uint8_t {
    kUnreadable,  // the system refused
    kNotATar,     // another kind of file, or a kind of tar that is not read: nothing of it is used
    kDamaged,     // up to here it was sound
    kCut,         // it ends inside a member, which is named
  };
  Kind kind = Kind::kDamaged;
  std::uint64_t offset = 0;
  std::string message;
  std::optional<TarMember> member = std::nullopt;
};

// Walks from header to header with few small reads. The end is two blocks of zeros, one, or the end of the file, which
// is what GNU tar and Python accept.
class TarReader {
 public:
  // Fills all of `out` from `offset`, which lies inside the archive.
  using ReadAt = std::function<base::Expected<void>(std::uint64_t offset, std::span<std::uint8_t> out)>;

  TarReader(ReadAt read, std::uint64_t size) : read_(std::move(read)), size_(size) {}

  // The next member; none at the end. After an error there is nothing more.
  std::expected<std::optional<TarMember>, TarError> next();
  // Content of a member that lies inside the archive, of at most kMostText bytes; empty if it is longer.
  std::expected<std::string, TarError> text(const TarMember& member);

  static constexpr std::uint64_t kMostText = std::uint64_t{1} << 20;

 private:
  struct Header;
  // What stands before a member and is meant for it.
  struct Extension {
    std::optional<std::string> name;
    std::optional<std::uint64_t> size;
    bool sparse = false;
  };

  std::expected<Header, TarError> read_header();
  std::expected<void, TarError> read_extension(const Header& header, Extension& extension);
  std::expected<std::span<const std::uint8_t>, TarError> bytes(std::uint64_t offset, std::uint64_t count);
  std::unexpected<TarError> damaged(std::uint64_t offset, std::string message) const;

  ReadAt read_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  // A header and the small members around it come in one read.
  std::array<std::uint8_t, 4096> window_{};
  std::uint64_t window_begin_ = 0;
  std::size_t window_bytes_ = 0;
};

// The key of a sample and the kind of a member, as WebDataset splits them: at the first dot of the base name. Empty for
// names that begin with a dot or have none.
struct MemberName {
  std::string_view key;        // with its folders
  std::string_view extension;  // without the dot
};
std::optional<MemberName> split_member_name(std::string_view name);

}  // namespace fullbore::image
