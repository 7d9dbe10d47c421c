// Tar archives for tests, and readers of them without a file.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "feed/image/tar_reader.h"
#include "feed/image/tar_writer.h"

namespace fullbore::image::testing {

inline std::string tar_member(std::string_view name, std::string_view content) {
  std::string bytes = tar_header(name, content.size());
  bytes += content;
  return bytes.append(tar_padding(content.size()), '\0');
}

inline std::string tar_end() {
  return std::string(kTarEndBytes, '\0');
}

// After a change of the header that begins at `at`.
inline void mend_checksum(std::string& tar, std::size_t at) {
  tar.replace(at + 148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = at; i < at + kTarBlock; ++i) sum += static_cast<unsigned char>(tar[i]);
  for (std::size_t digit = 0; digit < 6; ++digit, sum /= 8)
    tar[at + 148 + 5 - digit] = static_cast<char>('0' + sum % 8);
  tar[at + 154] = '\0';
}

// `tar` must outlive it.
inline TarReader read_from(std::string_view tar) {
  return TarReader(
      [tar](std::uint64_t offset, std::span<std::uint8_t> out) -> base::Expected<void> {
        std::memcpy(out.data(), tar.data() + offset, out.size());
        return {};
      },
      tar.size());
}

}  // namespace fullbore::image::testing
