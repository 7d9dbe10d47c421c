#include "record/frame.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "wire/records.h"

namespace fullbore::record {
namespace {

std::uint32_t checksum(const FrameHeader& header, const std::byte* stored) {
  uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(&header.pid),
                      offsetof(FrameHeader, crc32) - offsetof(FrameHeader, pid));
  crc = ::crc32(crc, reinterpret_cast<const Bytef*>(stored), header.stored_bytes);
  return static_cast<std::uint32_t>(crc);
}

// The frame at `at`, or nothing if it is cut short or damaged.
std::optional<Frame> frame_at(std::span<const std::byte> content, std::size_t at, std::size_t* end) {
  FrameHeader header;
  if (content.size() - at < sizeof header) return std::nullopt;
  std::memcpy(&header, content.data() + at, sizeof header);
  if (header.magic != kFrameMagic || header.raw_bytes > kMaxFrameBytes) return std::nullopt;
  if (content.size() - at - sizeof header < header.stored_bytes) return std::nullopt;
  const std::byte* stored = content.data() + at + sizeof header;
  if (checksum(header, stored) != header.crc32) return std::nullopt;
  Frame frame{header.pid, header.tid, std::vector<std::byte>(header.raw_bytes)};
  uLongf raw = header.raw_bytes;
  const int result = ::uncompress(reinterpret_cast<Bytef*>(frame.records.data()), &raw,
                                  reinterpret_cast<const Bytef*>(stored), header.stored_bytes);
  if (result != Z_OK || raw != header.raw_bytes) return std::nullopt;
  *end = at + sizeof header + header.stored_bytes;
  return frame;
}

std::size_t next_magic(std::span<const std::byte> content, std::size_t from) {
  const auto* magic = reinterpret_cast<const std::byte*>(&kFrameMagic);
  const auto found = std::search(content.begin() + static_cast<std::ptrdiff_t>(from), content.end(), magic,
                                 magic + sizeof kFrameMagic);
  return static_cast<std::size_t>(found - content.begin());
}

}  // namespace

void append_frame(std::uint32_t pid, std::uint32_t tid, std::span<const std::byte> records,
                  std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  uLongf stored = ::compressBound(records.size());
  out.resize(start + sizeof(FrameHeader) + stored);
  std::byte* body = out.data() + start + sizeof(FrameHeader);
  // Level 1: records compress 3-4 times at 100 MB/s; higher levels save a tenth more and cost the collector's budget.
  ::compress2(reinterpret_cast<Bytef*>(body), &stored, reinterpret_cast<const Bytef*>(records.data()), records.size(),
              1);
  FrameHeader header{
      kFrameMagic, pid, tid, static_cast<std::uint32_t>(records.size()), static_cast<std::uint32_t>(stored), 0};
  header.crc32 = checksum(header, body);
  std::memcpy(out.data() + start, &header, sizeof header);
  out.resize(start + sizeof header + stored);
}

base::Expected<std::vector<std::string>> read_frames(std::span<const std::byte> content,
                                                     const std::function<void(const Frame&)>& on_frame) {
  FileHeader header;
  if (content.size() < sizeof header) return std::vector<std::string>{"cut short inside the file header"};
  std::memcpy(&header, content.data(), sizeof header);
  if (header.magic != kFileMagic) return base::fail("not a Fullbore record file");
  if (header.version != wire::kVersion) {
    return base::fail(fmt::format("record version {} was written by another Fullbore; this one reads version {}",
                                  header.version, wire::kVersion));
  }
  std::vector<std::string> damage;
  std::size_t at = sizeof header;
  while (at < content.size()) {
    std::size_t end = at;
    if (const auto frame = frame_at(content, at, &end)) {
      on_frame(*frame);
      at = end;
      continue;
    }
    const std::size_t next = next_magic(content, at + 1);
    damage.push_back(next == content.size() ? fmt::format("cut short at byte {}", at)
                                            : fmt::format("damaged from byte {} to {}", at, next));
    at = next;
  }
  return damage;
}

}  // namespace fullbore::record
