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

  // Memory for `size` bytes from elsewhere, valid as long; refuses as much as read() does.
  base::Expected<std::span<std::uint8_t>> reserve(std::uint64_t size);

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace fullbore::image
