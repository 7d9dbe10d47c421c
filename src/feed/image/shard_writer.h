// One tar shard on its way to disk. It has its name only when it is whole, flushed and read back; until then it is a
// file ".NAME.partial", which is removed with its writer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace fullbore::image {

struct WrittenShard {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  std::uint32_t crc32 = 0;  // of the whole file, zlib's
};

class ShardWriter {
 public:
  static base::Expected<ShardWriter> create(const std::string& folder, const std::string& name);
  ShardWriter(ShardWriter&&) noexcept = default;
  ShardWriter& operator=(ShardWriter&&) = delete;
  ~ShardWriter();

  // A picture and, where there is one, its label.
  base::Expected<void> add(const std::string& key, std::string_view extension, std::span<const std::uint8_t> picture,
                           const std::int64_t* label);
  std::uint64_t samples() const { return shard_.samples; }
  // Of the shard as it would be if it were finished now.
  std::uint64_t bytes() const;
  // What add() would make it grow by.
  static std::uint64_t growth(std::uint64_t picture_bytes, bool labelled);

  // Ends the archive, flushes it to the disk, drops it from the page cache and reads it back; then it has its name.
  base::Expected<WrittenShard> finish();

 private:
  ShardWriter(std::string folder, std::string name, base::UniqueFd file);

  base::Expected<void> add_member(const std::string& name, std::span<const std::uint8_t> content);
  base::Expected<void> put(std::span<const std::uint8_t> bytes);
  base::Expected<void> flush();
  base::Expected<void> verify() const;
  std::unexpected<base::Error> failed(const char* what) const;

  std::string folder_;
  std::string partial_;  // path; empty once it has its name
  base::UniqueFd file_;
  std::vector<std::uint8_t> buffer_;
  WrittenShard shard_;
};

// A file under another name until it is whole, then under `path`. On the disk when this returns.
base::Expected<void> replace_file(const std::string& path, std::string_view content);

}  // namespace fullbore::image
