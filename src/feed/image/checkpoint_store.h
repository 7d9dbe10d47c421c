// Checkpoints of JPEGs that were decoded before, in the data set's index file and, where there is none that can be
// written, within a budget of memory: with them a later epoch decodes only the part that its crop needs. Kept from the
// first decode of a file that is sound to its end, so a damaged one is met alike in every epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "feed/image/catalogue.h"
#include "feed/image/index_file.h"
#include "fullbore/jpeg.h"

namespace fullbore::image {

// Thread-safe. A picture is known by its identity, index_identity() of its file: one that has changed is another.
class CheckpointStore {
 public:
  // `catalogue` must outlive it. `index`: if it cannot be opened, `problem` says why.
  CheckpointStore(const Catalogue& catalogue, std::size_t memory_limit, std::optional<IndexFile> index = std::nullopt,
                  std::string problem = "");
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  // After finish().
  ~CheckpointStore();

  // None if they are not kept.
  std::optional<jpeg::Checkpoints> find(std::uint64_t sample, std::uint64_t identity) const;
  // Whether it is worth recording them.
  bool wants(std::uint64_t sample, std::uint64_t identity) const;
  // Empty checkpoints: the picture can have none, and recording is not tried again.
  void keep(std::uint64_t sample, std::uint64_t identity, const jpeg::Checkpoints& checkpoints);
  // They turned out to contradict the picture.
  void forget(std::uint64_t sample);
  // Writes what is left to be written and reads what other processes have added.
  void refresh();
  // Writes what is left to be written; waits up to half a second for other processes that do so too.
  void finish();

  // Of those kept in memory.
  std::size_t bytes() const { return used_.load(std::memory_order_relaxed); }
  // The index file; empty if there is none.
  std::string index_path() const { return index_ ? index_->path() : std::string(); }
  std::uint64_t index_bytes();
  // Why there is no index, or why nothing more is written to it; empty if all is well.
  std::string problem() const;

 private:
  struct Kept {
    std::uint64_t identity = 0;
    std::vector<std::uint8_t> serialised;
  };
  struct Known {
    std::uint64_t identity = 0;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    bool known = false;
  };
  struct Pending {
    std::uint64_t sample = 0;
    IndexEntry entry;
  };

  void learn(const IndexRecord& record);
  void write_pending();
  base::Expected<bool> write_block(std::vector<Pending>& batch);
  void keep_in_memory(std::uint64_t sample, std::uint64_t identity, std::vector<std::uint8_t> serialised);

  const Catalogue& catalogue_;
  const std::size_t memory_limit_;
  std::atomic<std::size_t> used_ = 0;
  std::vector<std::atomic<const Kept*>> kept_;

  std::vector<std::pair<std::uint64_t, std::uint64_t>> names_;  // index_name() -> sample, sorted

  std::mutex writer_;  // of read_new() and add(); taken before the other
  std::optional<IndexFile> index_;

  mutable std::mutex mutex_;  // of the rest; held for moments
  std::vector<Known> known_;  // of each sample, by the index
  std::vector<Pending> pending_;
  std::size_t pending_bytes_ = 0;
  bool writing_ = false;
  std::string problem_;
};

}  // namespace fullbore::image
