#include "feed/image/checkpoint_store.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace fullbore::image {
namespace {

// A block of the index: 250 pictures or so. As much is lost if the process is killed.
constexpr std::size_t kBlockEntries = 256;
constexpr std::size_t kBlockBytes = 1u << 20;
// While another process holds the index: beyond this nothing is recorded.
constexpr std::size_t kMostPendingBytes = 16u << 20;
// All ranks end at the same time and each writes its last block in a moment. flock() knows no time limit.
constexpr int kLastTries = 100;
constexpr std::chrono::milliseconds kBetweenTries{5};

}  // namespace

CheckpointStore::CheckpointStore(const Catalogue& catalogue, std::size_t memory_limit, std::optional<IndexFile> index,
                                 std::string problem)
    : catalogue_(catalogue),
      memory_limit_(memory_limit),
      kept_(memory_limit == 0 ? 0 : catalogue.size()),
      index_(std::move(index)),
      problem_(std::move(problem)) {
  if (!index_) return;
  writing_ = index_->writable();
  known_.resize(catalogue.size());
  names_.reserve(catalogue.size());
  for (std::uint64_t sample = 0; sample < catalogue.size(); ++sample)
    names_.emplace_back(index_name(catalogue.index_key(sample)), sample);
  std::ranges::sort(names_);
  index_->read_new([this](const IndexRecord& record) { learn(record); });
}

CheckpointStore::~CheckpointStore() {
  finish();
  for (const auto& kept : kept_) delete kept.load(std::memory_order_relaxed);
}

void CheckpointStore::learn(const IndexRecord& record) {
  const std::lock_guard lock(mutex_);
  // A list may name a file several times.
  for (auto at = std::ranges::lower_bound(names_, std::pair(record.name, std::uint64_t{0}));
       at != names_.end() && at->first == record.name; ++at)
    known_[at->second] = {record.identity, record.offset, record.bytes, true};
}

std::optional<jpeg::Checkpoints> CheckpointStore::find(std::uint64_t sample, std::uint64_t identity) const {
  if (index_) {
    std::unique_lock lock(mutex_);
    const Known known = known_[sample];
    lock.unlock();
    if (known.known && known.bytes != 0 && known.identity == identity) {
      if (auto found = index_->load({0, identity, known.offset, known.bytes})) return found;
    }
  }
  const Kept* kept = kept_.empty() ? nullptr : kept_[sample].load(std::memory_order_acquire);
  if (kept == nullptr || kept->identity != identity) return std::nullopt;
  auto checkpoints = jpeg::Checkpoints::parse(kept->serialised);
  if (!checkpoints) return std::nullopt;
  return std::move(*checkpoints);
}

bool CheckpointStore::wants(std::uint64_t sample, std::uint64_t identity) const {
  if (index_) {
    const std::lock_guard lock(mutex_);
    // Those that were known and could not be found are damaged.
    const Known& known = known_[sample];
    if (known.known && known.identity == identity && known.bytes == 0) return false;
    if (writing_) return pending_bytes_ < kMostPendingBytes;
  }
  return bytes() < memory_limit_ && kept_[sample].load(std::memory_order_relaxed) == nullptr;
}

void CheckpointStore::keep(std::uint64_t sample, std::uint64_t identity, const jpeg::Checkpoints& checkpoints) {
  std::vector<std::uint8_t> serialised = checkpoints.empty() ? std::vector<std::uint8_t>() : checkpoints.serialise();
  if (!index_) return keep_in_memory(sample, identity, std::move(serialised));
  bool full = false;
  {
    std::unique_lock lock(mutex_);
    if (!writing_) {
      lock.unlock();
      return keep_in_memory(sample, identity, std::move(serialised));
    }
    known_[sample] = {identity, 0, 0, true};  // until it is written; not to be recorded twice
    pending_bytes_ += serialised.size() + sizeof(Pending);
    pending_.push_back({sample, {0, identity, std::move(serialised)}});
    full = pending_.size() >= kBlockEntries || pending_bytes_ >= kBlockBytes;
  }
  if (full) write_pending();
}

void CheckpointStore::keep_in_memory(std::uint64_t sample, std::uint64_t identity,
                                     std::vector<std::uint8_t> serialised) {
  if (serialised.empty() || kept_.empty() || bytes() >= memory_limit_) return;
  auto made = std::make_unique<Kept>(Kept{identity, std::move(serialised)});
  const std::size_t bytes = sizeof(Kept) + made->serialised.capacity();
  const Kept* expected = nullptr;
  if (!kept_[sample].compare_exchange_strong(expected, made.get(), std::memory_order_release)) return;
  static_cast<void>(made.release());
  used_.fetch_add(bytes, std::memory_order_relaxed);
}

void CheckpointStore::forget(std::uint64_t sample) {
  if (!index_) return;
  const std::lock_guard lock(mutex_);
  known_[sample] = {};
}

void CheckpointStore::refresh() {
  if (!index_) return;
  write_pending();
  const std::lock_guard writer(writer_);
  index_->read_new([this](const IndexRecord& record) { learn(record); });
}

void CheckpointStore::finish() {
  for (int tries = 0; tries < kLastTries; ++tries) {
    write_pending();
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return;
    std::this_thread::sleep_for(kBetweenTries);
  }
  const std::lock_guard lock(mutex_);
  problem_ = index_path() + " is held by another process";
}

std::uint64_t CheckpointStore::index_bytes() {
  const std::lock_guard writer(writer_);
  return index_ ? index_->bytes() : 0;
}

std::string CheckpointStore::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

// Where another thread or process is writing, what is pending waits for the next time.
void CheckpointStore::write_pending() {
  const std::unique_lock writer(writer_, std::try_to_lock);
  if (!writer) return;
  std::vector<Pending> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(pending_);
    pending_bytes_ = 0;
  }
  while (!batch.empty()) {
    const auto written = write_block(batch);
    if (written && *written) continue;
    const std::lock_guard lock(mutex_);
    if (!written) {
      writing_ = false;
      problem_ = written.error().message();
      for (Pending& left : batch) keep_in_memory(left.sample, left.entry.identity, std::move(left.entry.checkpoints));
      return;
    }
    for (Pending& left : batch) {
      pending_bytes_ += left.entry.checkpoints.size() + sizeof(Pending);
      pending_.push_back(std::move(left));
    }
    return;
  }
}

// Takes what was written from the end of `batch`. False if another process is writing.
base::Expected<bool> CheckpointStore::write_block(std::vector<Pending>& batch) {
  const std::size_t count = std::min(batch.size(), kMaxIndexEntries);
  const auto begin = batch.end() - static_cast<std::ptrdiff_t>(count);
  const auto make = [&] {
    const std::lock_guard lock(mutex_);
    std::vector<IndexEntry> entries;
    for (auto at = begin; at != batch.end(); ++at) {
      const Known& known = known_[at->sample];
      if (known.offset != 0 && known.identity == at->entry.identity) continue;  // another process was first
      entries.push_back({index_name(catalogue_.index_key(at->sample)), at->entry.identity, at->entry.checkpoints});
    }
    return entries;
  };
  const auto added = index_->add(make, [this](const IndexRecord& record) { learn(record); });
  if (added && *added) batch.erase(begin, batch.end());
  return added;
}

}  // namespace fullbore::image
