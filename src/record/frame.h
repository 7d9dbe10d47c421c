// The framing of .fbr files: a file header, then frames of whole records of one thread, each compressed and
// checksummed by itself. A reader stops at the first byte that is not there and finds the next frame after a damaged
// one by its magic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace fullbore::record {

inline constexpr std::uint64_t kFileMagic = 0x3130524642454c46ull;  // "FLEBFR01"
inline constexpr std::uint32_t kFrameMagic = 0x4d524642u;           // "BFRM"
inline constexpr std::uint32_t kMaxFrameBytes = 32u << 20;

struct FileHeader {
  std::uint64_t magic;
  std::uint32_t version;  // wire::kVersion
  std::uint32_t reserved;
};

struct FrameHeader {
  std::uint32_t magic;
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint32_t raw_bytes;     // of the records
  std::uint32_t stored_bytes;  // deflated (zlib), following this header
  std::uint32_t crc32;         // of the stored bytes, continued from the four fields above
};

// Appends a frame to `out`.
void append_frame(std::uint32_t pid, std::uint32_t tid, std::span<const std::byte> records,
                  std::vector<std::byte>& out);

struct Frame {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::vector<std::byte> records;
};

// Calls `on_frame` for each whole frame of a file's content, in order. Returns what was damaged, one line each, with
// the byte where it starts; an error if this is not such a file or a newer version wrote it.
base::Expected<std::vector<std::string>> read_frames(std::span<const std::byte> content,
                                                     const std::function<void(const Frame&)>& on_frame);

}  // namespace fullbore::record
