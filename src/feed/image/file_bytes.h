// Reading a picture's file whole into memory that is used again for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace fullbore::image {

class FileBytes {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 30;

  // Valid until the next call. Only regular files are read: a FIFO in a data set would block a thread for ever.
  base::Expected<std::span<const std::uint8_t>> read(const std::string& path);
  // When the file that was read last was changed last, in ns since 1970.
  std::int64_t mtime_ns() const { return mtime_ns_; }

  // Memory for `size` bytes of a file that was changed last at `mtime_ns`, for others to fill, valid as long; refuses
  // as much as read() does.
  base::Expected<std::span<std::uint8_t>> reserve(std::uint64_t size, std::int64_t mtime_ns);

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_ = 0;
  std::int64_t mtime_ns_ = 0;
};

}  // namespace fullbore::image
