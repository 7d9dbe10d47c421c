// Whether files lie in the page cache: what reading costs is another number then, and it must be said which one it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fullbore::image {

struct CachedBytes {
  std::uint64_t cached = 0;
  std::uint64_t all = 0;
};

// Of `size` bytes of the file from `offset`, in whole pages. Nothing where the kernel does not tell: since 5.2 it tells
// those who may write to a file.
std::optional<CachedBytes> cached_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size);

// Asks the kernel to forget the file; it keeps what is dirty or mapped.
void drop_from_cache(const std::string& path);

}  // namespace fullbore::image
