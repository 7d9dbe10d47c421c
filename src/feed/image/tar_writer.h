// Members of a tar archive as bytes, in ustar's form; long names by pax. Readable by every tar, and by WebDataset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fullbore::image {

constexpr std::uint64_t kTarBlock = 512;

// What stands before `size` bytes of content: owner root, mode 0644, no time, so that equal members are equal bytes.
std::string tar_header(std::string_view name, std::uint64_t size);

// Zeros between the content and the next member.
constexpr std::uint64_t tar_padding(std::uint64_t size) {
  return (kTarBlock - size % kTarBlock) % kTarBlock;
}

// The end of an archive: two blocks of zeros.
constexpr std::uint64_t kTarEndBytes = 2 * kTarBlock;

}  // namespace fullbore::image
