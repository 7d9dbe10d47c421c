#include "feed/image/index_build.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "feed/image/checkpoint_store.h"
#include "feed/image/data_source.h"
#include "feed/image/decoder.h"
#include "feed/image/file_bytes.h"
#include "feed/image/index_place.h"
#include "feed/image/shard_files.h"

namespace fullbore::image {
namespace {

constexpr std::chrono::milliseconds kBetweenProgress{200};

int usable_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

// One thread's share.
class Indexer {
 public:
  Indexer(const Catalogue& catalogue, ShardFiles& shards, CheckpointStore& store, bool check)
      : catalogue_(catalogue), shards_(shards), store_(store), check_(check) {}

  void take(std::uint64_t sample) {
    ++report_.pictures;
    const auto file = shards_.read_sample(sample, file_, path_);
    if (!file) return note_bad(sample, file.error().message());
    report_.data_bytes += file->size();
    if (picture_extension(*file) != "jpg") {
      ++report_.other;
      return;
    }
    const auto header = jpeg::read_header(*file);
    if (!header) return note_bad(sample, header.error().message);
    // CMYK is decoded whole, too: Pillow converts it before it resizes.
    const bool indexed = header->native && header->channels == 3;
    ++(indexed ? report_.baseline : header->coding == jpeg::Coding::kProgressive ? report_.progressive : report_.other);
    if (indexed) take_jpeg(sample, *file);
  }
  const IndexReport& report() const { return report_; }

 private:
  void take_jpeg(std::uint64_t sample, std::span<const std::uint8_t> file) {
    const std::uint64_t identity = index_identity(file, file_.mtime_ns());
    const auto found = store_.find(sample, identity);
    const bool none = !found && !store_.wants(sample, identity);  // in several scans
    if (!check_ && (found || none)) {
      ++report_.known;
      return;
    }
    jpeg::Checkpoints made;
    // The least of a picture: the scan is read to its end for the checkpoints in any case.
    const auto done = decoder_.decode(file, {.window = jpeg::Rect{0, 0, 1, 1}, .record = &made});
    if (!done) {
      --report_.baseline;
      return note_bad(sample, done.error().message);
    }
    if (!check_) {
      store_.keep(sample, identity, made);
      ++report_.added;
    } else if (!found && !made.empty()) {
      ++report_.missing;
    } else if (found && found->serialise() != made.serialise()) {
      ++report_.wrong;
    } else {
      ++report_.known;
    }
  }

  void note_bad(std::uint64_t sample, const std::string& reason) {
    if (++report_.bad > 1) return;
    catalogue_.path(sample, report_.first_bad);
    report_.first_bad += ": " + reason;
  }

  const Catalogue& catalogue_;
  ShardFiles& shards_;
  CheckpointStore& store_;
  const bool check_;
  FileBytes file_;
  std::string path_;
  jpeg::Decoder decoder_;
  IndexReport report_;
};

void add_up(IndexReport& sum, const IndexReport& part) {
  for (const auto count : {&IndexReport::pictures, &IndexReport::data_bytes, &IndexReport::baseline,
                           &IndexReport::progressive, &IndexReport::other, &IndexReport::bad, &IndexReport::known,
                           &IndexReport::added, &IndexReport::missing, &IndexReport::wrong})
    sum.*count += part.*count;
  if (sum.first_bad.empty()) sum.first_bad = part.first_bad;
}

// Shares the samples among threads; ends early when the index cannot be written any more.
IndexReport index_all(const Catalogue& catalogue, CheckpointStore& store, int threads, bool check,
                      const IndexProgress& progress) {
  std::mutex mutex;
  std::condition_variable finished;
  IndexReport sum;
  int running = threads;
  std::atomic<std::uint64_t> next = 0, done = 0;
  std::atomic<bool> broken = false;
  ShardFiles shards(catalogue);
  const auto work = [&] {
    Indexer indexer(catalogue, shards, store, check);
    for (std::uint64_t sample = next++; sample < catalogue.size() && !broken; sample = next++, ++done)
      indexer.take(sample);
    const std::lock_guard lock(mutex);
    add_up(sum, indexer.report());
    --running;
    finished.notify_one();
  };
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  std::unique_lock lock(mutex);
  while (!finished.wait_for(lock, kBetweenProgress, [&] { return running == 0; })) {
    broken = !store.problem().empty();
    progress(done, catalogue.size());
  }
  return sum;
}

}  // namespace

base::Expected<IndexReport> build_index(const std::string& data, const IndexBuildOptions& options,
                                        const IndexProgress& progress) {
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  const auto catalogue = open_data({data}, threads, options.listing_cache);
  if (!catalogue) return std::unexpected(catalogue.error());
  auto index = open_index(index_home(*catalogue, {data}), options.index, options.index_cache);
  if (!index) return std::unexpected(index.error());
  if (!index->file) return base::fail(index->problem);
  if (!index->file->writable() && !options.check)
    return base::fail(index->file->path() + " may not be written; give another with --index");
  CheckpointStore store(*catalogue, 0, std::move(index->file));
  IndexReport report = index_all(*catalogue, store, threads, options.check, progress);
  store.finish();
  if (std::string problem = store.problem(); !problem.empty()) return base::fail(std::move(problem));
  report.path = store.index_path();
  report.index_bytes = store.index_bytes();
  return report;
}

}  // namespace fullbore::image
