// The temporary folder in which watched processes make their rings: on a tmpfs with room, never on a disk (writeback
// would be I/O of our own making), 0700 with a random name, removed at the end and, if that failed, by the next run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file_reader.h"

namespace fullbore::observe {

// Where a tmpfs may be, best first. `xdg_runtime_dir` may be empty.
std::vector<std::string> ring_parents(std::string_view xdg_runtime_dir);

// Data area of one ring for so much free space: at most 1 MiB, and 32 rings take no more than an eighth of what is free
// (a container's default /dev/shm has 64 MiB, and torch needs it too). 0: too little for any ring.
std::uint64_t choose_ring_bytes(std::uint64_t free_bytes);

// Owns the folder until remove() or disown(); the destructor removes it.
class RingDirectory {
 public:
  // Takes the first parent that is a tmpfs with room; the error names each one's reason.
  static base::Expected<RingDirectory> create(const std::vector<std::string>& parents, const base::FileReader& files);
  // Takes over a folder that another process made for us and will not remove.
  static RingDirectory adopt(std::string path);

  RingDirectory(RingDirectory&& other) noexcept;
  RingDirectory& operator=(RingDirectory&&) = delete;
  ~RingDirectory() { remove(); }

  const std::string& path() const { return path_; }
  std::uint64_t ring_bytes() const { return ring_bytes_; }

  // The folder and the files in it. Again is harmless.
  void remove();
  // Another process has it now.
  void disown() { path_.clear(); }

 private:
  RingDirectory(std::string path, std::uint64_t ring_bytes) : path_(std::move(path)), ring_bytes_(ring_bytes) {}

  std::string path_;
  std::uint64_t ring_bytes_;
};

// Removes folders that this user's earlier runs left behind: only where the launcher named in them is dead, as seen
// from the same pid namespace.
void remove_stale_ring_directories(const std::vector<std::string>& parents, const base::FileReader& files);

}  // namespace fullbore::observe
