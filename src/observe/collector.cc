#include "observe/collector.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "observe/record_bytes.h"

namespace fullbore::observe {
namespace {

// A read per thread of the tree: twice a second is 0.1 % of a core for a hundred threads.
constexpr std::int64_t kTreePeriodNs = 500'000'000;
constexpr std::int64_t kDeathsPeriodNs = 500'000'000;

std::vector<std::string> ring_names(int directory_fd) {
  std::vector<std::string> names;
  const int copy = ::openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".ring")) names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

OwnCost own_cost() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024};
}

Collector::Collector(CollectorOptions options, record::RunWriter& writer,
                     std::vector<std::unique_ptr<Sampler>> samplers, const base::FileReader& files,
                     const base::Clock& clock)
    : options_(std::move(options)), writer_(writer), files_(files), clock_(clock), tracker_(files, options_.root_pid) {
  tree_.root_pid = options_.root_pid;
  for (auto& sampler : samplers) samplers_.push_back({std::move(sampler), 0});
  if (options_.rings.empty()) return;
  directory_.reset(::open(options_.rings.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory_) series_.missing("hook", "cannot open the folder of rings " + options_.rings);
}

void Collector::tick() {
  const std::int64_t now_ns = clock_.now_ns();
  find_rings();
  for (Ring& ring : rings_) drain(ring, now_ns);
  if (now_ns >= deaths_due_ns_) {
    deaths_due_ns_ = now_ns + kDeathsPeriodNs;
    drop_dead_rings();
  }
  if (now_ns >= tree_due_ns_) {
    tree_due_ns_ = now_ns + kTreePeriodNs;
    refresh_tree();
  }
  sample(now_ns);
  writer_.flush();
}

void Collector::finish() {
  find_rings();
  const std::int64_t now_ns = clock_.now_ns();
  for (Ring& ring : rings_) {
    ring.file.stop();
    drain(ring, now_ns);
    ::unlinkat(directory_.get(), ring.file.name().c_str(), 0);
  }
  rings_.clear();
  sample(now_ns);
  writer_.flush(true);
}

std::vector<std::pair<std::string, std::string>> Collector::missing() const {
  auto all = series_.missing_signals();
  if (!writer_.error().empty()) all.emplace_back("records", writer_.error());
  return all;
}

void Collector::find_rings() {
  if (!directory_) return;
  for (const std::string& name : ring_names(directory_.get())) {
    const auto same = [&](const Ring& ring) { return ring.file.name() == name; };
    if (std::ranges::any_of(rings_, same) || std::ranges::find(refused_, name) != refused_.end()) continue;
    auto ring = RingFile::open(directory_.get(), name);
    if (!ring) {
      series_.missing("ring " + name, ring.error().message());
      refused_.push_back(name);
    } else if (*ring) {
      tracker_.add((*ring)->pid());
      tree_due_ns_ = 0;
      rings_.push_back({std::move(**ring)});
    }
  }
}

void Collector::drain(Ring& ring, std::int64_t now_ns) {
  const auto records = ring.file.drain(buffer_);
  if (!records.empty()) {
    tally_.add(ring.file.pid(), records);
    writer_.append(ring.file.rank(), ring.file.pid(), ring.file.tid(), records);
  }
  const std::uint64_t dropped = ring.file.dropped();
  if (dropped == ring.dropped) return;
  std::vector<std::byte> record;
  append_record(record, wire::DroppedRecord{now_ns, dropped - ring.dropped});
  ring.dropped = dropped;
  writer_.append(ring.file.rank(), ring.file.pid(), ring.file.tid(), record);
}

void Collector::drop_dead_rings() {
  std::erase_if(rings_, [&](Ring& ring) {
    if (!producer_is_dead(ring.file)) return false;
    drain(ring, clock_.now_ns());  // what it wrote between the last round and its end
    ::unlinkat(directory_.get(), ring.file.name().c_str(), 0);
    return true;
  });
}

bool Collector::producer_is_dead(const RingFile& ring) const {
  if (ring.closed()) return true;
  const auto stat = read_process_stat(files_, ring.pid());
  if (!stat || stat->start_ticks != ring.process_start_ticks()) return true;
  return !files_.read(fmt::format("/proc/{}/task/{}/stat", ring.pid(), ring.tid())).has_value();
}

void Collector::refresh_tree() {
  tracker_.refresh();
  tree_.pids = tracker_.pids();
  tree_.trainers.clear();
  for (const std::uint32_t pid : tally_.trainers()) {
    if (std::ranges::find(tree_.pids, pid) != tree_.pids.end()) tree_.trainers.push_back(pid);
  }
  tree_.data_paths = tally_.data_paths();
}

void Collector::sample(std::int64_t now_ns) {
  // Of a command that has ended every file is gone, and samplers would name what they read well before as missing.
  const auto root = read_process_stat(files_, options_.root_pid);
  if (!root || root->state == 'Z') return;
  for (Scheduled& scheduled : samplers_) {
    if (now_ns < scheduled.due_ns) continue;
    // On its own beat; a round that comes more than a period late is not made up for.
    const std::int64_t period_ns = scheduled.sampler->period_ns();
    const bool late = now_ns - scheduled.due_ns >= period_ns;
    scheduled.due_ns = (late ? now_ns : scheduled.due_ns) + period_ns;
    scheduled.sampler->sample(tree_, now_ns, series_);
  }
  const auto records = series_.take(now_ns);
  if (!records.empty()) writer_.append_system(records);
}

}  // namespace fullbore::observe
