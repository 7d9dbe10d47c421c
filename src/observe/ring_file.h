// One ring as the collector sees it: mapped, checked, drained, unlinked. The other side is a stranger's process, so
// every number in the header is checked against the file before it is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "wire/ring.h"

namespace fullbore::observe {

// Owns the mapping, not the file's name. Used by one thread.
class RingFile {
 public:
  // nullopt: its maker is not done with it yet. Never follows a link.
  static base::Expected<std::optional<RingFile>> open(int directory_fd, const std::string& name);

  RingFile(RingFile&& other) noexcept;
  RingFile& operator=(RingFile&&) = delete;
  ~RingFile();

  const std::string& name() const { return name_; }
  std::uint32_t pid() const { return pid_; }
  std::uint32_t tid() const { return tid_; }
  std::int32_t rank() const { return rank_; }
  std::uint64_t process_start_ticks() const { return start_ticks_; }

  // Whole records written since the last call; valid until `buffer` changes, which grows to the ring's capacity.
  std::span<const std::byte> drain(std::vector<std::byte>& buffer);
  std::uint64_t dropped() const { return reader_.dropped(); }
  bool closed() const { return reader_.closed(); }
  void stop() { reader_.stop(); }

 private:
  RingFile(std::string name, void* mapping, std::uint64_t mapped_bytes, std::uint64_t capacity);

  std::string name_;
  void* mapping_;
  std::uint64_t mapped_bytes_;
  std::uint64_t capacity_;
  std::uint32_t pid_;
  std::uint32_t tid_;
  std::int32_t rank_;
  std::uint64_t start_ticks_;
  wire::RingReader reader_;
};

}  // namespace fullbore::observe
