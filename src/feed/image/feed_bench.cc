#include "feed/image/feed_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "base/clock.h"
#include "feed/image/batch_pool.h"
#include "feed/image/sample_maker.h"

namespace fullbore::image {
namespace {

using base::Expected;
using GoOn = std::function<bool(double)>;

constexpr std::uint64_t kSeed = 0;
constexpr std::uint64_t kMostRepeated = 512;  // pictures: some batches, and few enough to stay in the page cache
constexpr double kReadingShare = 0.2, kStagesShare = 0.2;

double seconds_since(std::int64_t begin_ns) {
  return static_cast<double>(base::monotonic_ns() - begin_ns) / 1e9;
}

std::int64_t cpu_ns(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

class ThreadCpuClock final : public base::Clock {
 public:
  std::int64_t now_ns() const override { return cpu_ns(CLOCK_THREAD_CPUTIME_ID); }
};

// Numbers of `count` samples, spread evenly.
std::vector<std::uint64_t> spread(std::uint64_t samples, std::uint64_t count) {
  count = std::min(count, samples);
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i) numbers[i] = i * samples / count;
  return numbers;
}

Catalogue subset(const Catalogue& all, const std::vector<std::uint64_t>& samples) {
  Catalogue some("");
  std::map<std::uint32_t, std::uint32_t> shards;
  std::string path;
  for (const std::uint64_t sample : samples) {
    if (auto member = all.member(sample)) {
      const auto [known, is_new] = shards.try_emplace(member->shard);
      if (is_new) known->second = some.add_shard(all.shard(member->shard));
      member->shard = known->second;
      some.add_member(all.name(sample), all.label(sample), *member);
      if (const std::string* why = all.fault(sample)) some.set_fault(*why);
    } else {
      all.path(sample, path);
      some.add(path, all.label(sample));
    }
  }
  return some;
}

void add(SampleTimes& sum, const SampleTimes& times) {
  sum.read_ns += times.read_ns;
  sum.decode_ns += times.decode_ns;
  sum.finish_ns += times.finish_ns;
}

StageCosts costs_of(const SampleTimes& times, std::size_t pictures) {
  const auto per_picture = [&](std::int64_t ns) {
    return static_cast<double>(ns) / 1e6 / static_cast<double>(pictures);
  };
  return {pictures, per_picture(times.read_ns), per_picture(times.decode_ns), per_picture(times.finish_ns)};
}

class Bench {
 public:
  Bench(const Catalogue& catalogue, const BenchOptions& options, const GoOn& go_on)
      : catalogue_(catalogue), options_(options), go_on_(go_on) {}

  Expected<BenchResult> run() {
    result_.samples = catalogue_.size();
    const ReadingOptions reading{options_.most_threads, options_.seconds * kReadingShare, options_.cold};
    result_.reading = measure_reading(
        catalogue_, reading, [&] { return check().has_value(); },
        [&](std::uint64_t sample, const std::string& reason) { note_bad(sample, reason); });
    if (auto go = check(); !go) return std::unexpected(go.error());
    auto sound = measure_stages(spread(catalogue_.size(), kMostRepeated));
    if (!sound) return std::unexpected(sound.error());
    result_.repeated = sound->size();
    const Catalogue some = subset(catalogue_, *sound);
    std::vector<int> counts;
    for (int threads = 1; threads < options_.most_threads; threads *= 2) counts.push_back(threads);
    counts.push_back(options_.most_threads);
    const double each = options_.seconds * (1 - kReadingShare - kStagesShare) / static_cast<double>(counts.size());
    for (const int threads : counts) {
      if (auto done = measure_rate(some, threads, each); !done) return std::unexpected(done.error());
    }
    result_.bad = bad_.size();
    return std::move(result_);
  }

 private:
  Expected<void> check() {
    if (go_on_(std::min(1.0, seconds_since(begin_ns_) / options_.seconds))) return {};
    return base::fail("stopped");
  }

  void note_bad(std::uint64_t sample, const std::string& reason) {
    if (!bad_.insert(sample).second || bad_.size() > 1) return;
    catalogue_.path(sample, result_.first_bad);
    result_.first_bad += ": " + reason;
  }

  // The same pictures in a first and in a later epoch, by the clock of this thread alone. Gives those that are sound;
  // fewer than were asked for if there is no time for all.
  Expected<std::vector<std::uint64_t>> measure_stages(std::vector<std::uint64_t> samples) {
    const ThreadCpuClock clock;
    const Catalogue some = subset(catalogue_, samples);
    ShardFiles shards(some);
    CheckpointStore checkpoints(some, LoaderOptions().index_memory);  // a bench writes nothing
    SampleMaker maker(some, shards, checkpoints, options_.transform, LoaderOptions().max_pixels, clock);
    std::vector<std::byte> out(sample_bytes(options_.transform));
    std::vector<std::uint64_t> sound;  // of `some`
    SampleTimes times;
    const std::int64_t begin = base::monotonic_ns();
    for (std::uint64_t i = 0; i < some.size() && seconds_since(begin) < options_.seconds * kStagesShare / 2; ++i) {
      if (auto go = check(); !go) return std::unexpected(go.error());
      SampleTimes its;
      if (const auto made = maker.make({kSeed, 0, i}, out.data(), its); !made) {
        note_bad(samples[i], made.error().reason);
        continue;
      }
      add(times, its);
      sound.push_back(i);
    }
    if (sound.empty()) return base::fail("none of the pictures can be decoded; the first one is " + result_.first_bad);
    result_.first_epoch = costs_of(times, sound.size());
    times = {};
    for (const std::uint64_t i : sound) {
      if (auto go = check(); !go) return std::unexpected(go.error());
      static_cast<void>(maker.make({kSeed, 1, i}, out.data(), times));
    }
    result_.later_epochs = costs_of(times, sound.size());
    std::ranges::transform(sound, sound.begin(), [&](std::uint64_t i) { return samples[i]; });
    return sound;
  }

  // After an epoch that is not counted: files are in the page cache then, and checkpoints there.
  Expected<void> measure_rate(const Catalogue& some, int threads, double seconds) {
    LoaderOptions options;
    options.transform = options_.transform;
    options.plan.batch_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(64, some.size()));
    options.on_error = OnError::kReplace;
    const auto plan = Plan::make(some.size(), options.plan);
    if (!plan) return std::unexpected(plan.error());
    const std::size_t pixel_bytes = options.plan.batch_size * sample_bytes(options.transform);
    auto store = SlotStore::make({options.plan.batch_size, some.labels_of_each(), pixel_bytes}, options);
    if (!store) return std::unexpected(store.error());
    BatchPool pool(some, *plan, options, std::move(*store), {}, threads);
    ThreadsRate rate;
    rate.threads = threads;
    std::int64_t begin = 0, cpu_begin = 0;
    for (std::uint64_t epoch = 0; epoch == 0 || seconds_since(begin) < seconds; ++epoch) {
      if (epoch == 1) {
        begin = base::monotonic_ns();
        cpu_begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
      }
      pool.start(epoch, 0);
      for (;;) {
        if (auto go = check(); !go) return go;
        const auto slot = pool.next();
        if (!slot) return std::unexpected(slot.error());
        if (*slot == nullptr) break;
        if (epoch > 0) rate.pictures += (*slot)->samples;
        const std::lock_guard lock(pool.store()->mutex());
        pool.store()->give_back(*slot);
      }
      if (epoch == 0) begin = base::monotonic_ns();  // there is a second one, however short the time
    }
    rate.seconds = seconds_since(begin);
    rate.cpu_seconds = static_cast<double>(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / 1e9;
    result_.rates.push_back(rate);
    return {};
  }

  const Catalogue& catalogue_;
  const BenchOptions& options_;
  const GoOn& go_on_;
  const std::int64_t begin_ns_ = base::monotonic_ns();
  BenchResult result_;
  std::set<std::uint64_t> bad_;
};

}  // namespace

base::Expected<BenchResult> run_bench(const Catalogue& catalogue, const BenchOptions& options, const GoOn& go_on) {
  return Bench(catalogue, options, go_on).run();
}

BenchLimit find_limit(const BenchResult& result) {
  const auto best = std::ranges::max_element(result.rates, {}, &ThreadsRate::pictures_per_s);
  const StageCosts& costs = result.later_epochs;
  const std::pair<double, const char*> stages[] = {
      {costs.read_ms, "read"}, {costs.decode_ms, "decode"}, {costs.finish_ms, "finish"}};
  const std::string stage = std::ranges::max_element(stages)->second;
  const double storage = static_cast<double>(result.reading.pictures) / result.reading.seconds;
  if (storage < best->pictures_per_s()) return {"storage", storage, stage, best->pictures_per_s()};
  return {stage, best->pictures_per_s(), "storage", storage};
}

}  // namespace fullbore::image
