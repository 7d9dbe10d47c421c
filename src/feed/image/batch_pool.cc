#include "feed/image/batch_pool.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>

#include "base/clock.h"

namespace fullbore::image {
namespace {

// Draws for the place of a bad sample. That all are bad has probability 1e-16 where a tenth of the data is.
constexpr std::uint64_t kRefills = 16;

double ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

}  // namespace

BatchPool::BatchPool(const Catalogue& catalogue, const Plan& plan, const LoaderOptions& options,
                     std::shared_ptr<SlotStore> store, OpenedIndex index, int threads)
    : catalogue_(catalogue),
      plan_(plan),
      options_(options),
      sample_bytes_(sample_bytes(options.transform)),
      store_(std::move(store)),
      shards_(catalogue),
      checkpoints_(catalogue, options.index_memory, std::move(index.file), std::move(index.problem)) {
  working_ = report_.threads = threads;
  if (options.adapt_threads) tuner_.emplace(threads);
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { work(i); });
    ::pthread_setname_np(threads_.back().native_handle(), "fullbore-image");
  }
}

BatchPool::~BatchPool() {
  stop();
  const std::lock_guard lock(store_->mutex());
  stopping_ = true;
  store_->work().notify_all();
  resting_.notify_all();
}

void BatchPool::start(std::uint64_t epoch, std::uint64_t first) {
  checkpoints_.refresh();  // other ranks have seen other pictures in the pass before
  const std::lock_guard lock(store_->mutex());
  // What is being made may also be the pass that has just ended, of which nothing is left.
  const bool made_ahead =
      !passing_ && making_ && making_->number() != pass_epoch_ && making_->number() == epoch && first == 0;
  if (!made_ahead) {
    drop_all();
    making_.emplace(plan_, epoch);
    next_batch_ = first;
  }
  passing_ = true;
  pass_epoch_ = epoch;
  handed_out_ = first;
  waited_ns_ = 0;
  if (tuner_) tuner_->begin_pass();
  store_->work().notify_all();
}

void BatchPool::stop() {
  const std::lock_guard lock(store_->mutex());
  drop_all();
}

void BatchPool::drop_all() {
  passing_ = false;
  making_.reset();
  held_up_ns_ = 0;
  for (Slot* slot : open_) {
    slot->dropped = true;
    slot->unmade -= slot->samples - slot->taken;
    slot->taken = slot->samples;
    if (slot->unmade == 0) store_->give_back(slot);
  }
  open_.clear();
}

bool BatchPool::settled() const {
  if (!passing_ || handed_out_ == plan_.batches()) return true;
  return open_.empty() ? store_->exhausted() : open_.front()->unmade == 0;
}

bool BatchPool::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(store_->mutex());
  const std::int64_t began = base::monotonic_ns();
  const bool ready = ready_.wait_for(lock, patience, [this] { return settled(); });
  waited_ns_ += base::monotonic_ns() - began;
  return ready;
}

base::Expected<Slot*> BatchPool::next() {
  std::unique_lock lock(store_->mutex());
  const std::int64_t began = base::monotonic_ns();
  ready_.wait(lock, [this] { return settled(); });
  if (!passing_ || handed_out_ == plan_.batches()) {
    passing_ = false;
    return nullptr;
  }
  if (open_.empty())
    return base::fail(
        fmt::format("all {} batches that memory is allowed for are still held; drop some, or raise "
                    "memory_limit ({} bytes)",
                    store_->most(), options_.memory_limit));
  Slot* slot = open_.front();
  open_.pop_front();
  ++handed_out_;
  hand_out(*slot, began - std::exchange(waited_ns_, 0));
  store_->work().notify_all();
  return slot;
}

void BatchPool::hand_out(Slot& slot, std::int64_t asked_ns) {
  const std::int64_t now = base::monotonic_ns();
  slot.times.queue_ms = ms(now - slot.ready_ns);
  slot.times.wait_ms = ms(now - asked_ns);
  report_.add(slot.times, slot.samples, asked_ns, now);
  if (!tuner_) return;
  const BatchTimes& times = slot.times;
  tuner_->handed_out(times.read_ms + times.decode_ms + times.finish_ms, asked_ns, times.wait_ms);
  working_ = tuner_->threads();
  resting_.notify_all();
}

PoolReport BatchPool::report() const {
  const std::lock_guard lock(store_->mutex());
  PoolReport report = report_;
  report.working = working_;
  report.settled = !tuner_ || tuner_->settled();
  return report;
}

void BatchPool::work(int number) {
  const base::MonotonicClock clock;
  SampleMaker maker(catalogue_, shards_, checkpoints_, options_.transform, options_.max_pixels, clock);
  std::unique_lock lock(store_->mutex());
  while (const auto place = take_place(number, lock)) {
    lock.unlock();
    make(maker, *place);
    lock.lock();
  }
}

std::optional<BatchPool::Place> BatchPool::take_place(int number, std::unique_lock<std::mutex>& lock) {
  while (!stopping_) {
    if (number >= working_) {
      resting_.wait(lock);
      continue;
    }
    const bool left = !open_.empty() && open_.back()->taken < open_.back()->samples;
    if (left || begin_batch()) {
      Slot* slot = open_.back();
      return Place{slot, slot->taken++, *making_};
    }
    store_->work().wait(lock);
  }
  return std::nullopt;
}

bool BatchPool::begin_batch() {
  if (!making_) return false;
  const bool at_end = next_batch_ == plan_.batches();
  if (at_end && (!passing_ || making_->number() != pass_epoch_)) return false;  // one epoch ahead, not two
  const std::int64_t now = base::monotonic_ns();
  Slot* slot = open_.size() < static_cast<std::size_t>(options_.depth) ? store_->take() : nullptr;
  if (slot == nullptr) {
    if (held_up_ns_ == 0) held_up_ns_ = now;
    return false;
  }
  if (at_end) {
    making_.emplace(plan_, pass_epoch_ + 1);
    next_batch_ = 0;
  }
  slot->batch = next_batch_++;
  slot->samples = static_cast<std::uint32_t>(plan_.batch_samples(slot->batch));
  slot->taken = 0;
  slot->unmade = slot->samples;
  slot->dropped = slot->unfilled = false;
  slot->begin_ns = now;
  slot->replaced.clear();
  slot->faults.clear();
  slot->times = {};
  slot->times.slot_wait_ms = held_up_ns_ == 0 ? 0 : ms(now - held_up_ns_);
  held_up_ns_ = 0;
  open_.push_back(slot);
  store_->work().notify_all();
  return true;
}

void BatchPool::make(SampleMaker& maker, const Place& place) {
  const auto [slot, index, epoch] = place;
  const std::uint64_t wanted = epoch.sample(slot->batch, index);
  const SampleRandom random{options_.plan.seed, epoch.number(), wanted};
  std::byte* const out = slot->memory.get() + index * sample_bytes_;
  SampleTimes times;
  std::vector<PlacedFault> faults;
  std::uint64_t sample = wanted;
  const auto try_sample = [&] {
    auto made = maker.make({random.seed, random.epoch, sample}, out, times);
    if (!made) faults.push_back({index, sample, std::move(made.error())});
    return made.has_value();
  };
  bool filled = try_sample();
  if (!filled && options_.on_error == OnError::kReplace) {
    maker.make_blank(out);
    filled = true;
  }
  for (std::uint64_t draw = 0; !filled && options_.on_error == OnError::kSkip && draw < kRefills; ++draw) {
    sample = to_range(random.block(Draw::kRefill, draw)[0], catalogue_.size());
    filled = try_sample();
  }
  slot->ids[index] = sample;
  const auto labels = catalogue_.labels(sample);
  std::ranges::copy(labels, slot->labels.begin() + static_cast<std::ptrdiff_t>(index * labels.size()));
  finish_place(place, times, std::move(faults), filled);
}

void BatchPool::finish_place(const Place& place, const SampleTimes& times, std::vector<PlacedFault> faults,
                             bool filled) {
  Slot* slot = place.slot;
  const std::lock_guard lock(store_->mutex());
  slot->times.read_ms += ms(times.read_ns);
  slot->times.decode_ms += ms(times.decode_ns);
  slot->times.finish_ms += ms(times.finish_ns);
  if (!filled) slot->unfilled = true;
  if (!faults.empty() && options_.on_error == OnError::kReplace) slot->replaced.push_back(place.index);
  for (PlacedFault& fault : faults) slot->faults.push_back(std::move(fault));
  if (--slot->unmade > 0) return;
  slot->ready_ns = base::monotonic_ns();
  slot->times.make_ms = ms(slot->ready_ns - slot->begin_ns);
  if (slot->dropped) {
    store_->give_back(slot);
    return;
  }
  // Threads finish in any order; what is reported does not depend on it.
  std::ranges::sort(slot->replaced);
  std::ranges::stable_sort(slot->faults, {}, &PlacedFault::place);
  ready_.notify_all();
}

}  // namespace fullbore::image
