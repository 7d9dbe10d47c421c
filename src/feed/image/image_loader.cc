// The public class: checks the options, keeps the bad samples, and hands slots out as batches.
#include "fullbore/image_loader.h"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "feed/image/batch_pool.h"
#include "feed/image/data_source.h"
#include "feed/image/erase.h"
#include "feed/image/geometry.h"
#include "feed/image/pixel_steps.h"

namespace fullbore::image {
namespace {

std::unexpected<Error> to_error(const base::Error& error) {
  return std::unexpected(Error{error.message()});
}

std::string unusable_options(const LoaderOptions& options) {
  const TransformOptions& transform = options.transform;
  if (std::string why = unusable(transform.geometry); !why.empty()) return why;
  if (!(transform.flip >= 0 && transform.flip <= 1))
    return fmt::format("a probability of {} to flip; it is from 0 to 1", transform.flip);
  if (std::string why = unusable(transform.steps, kept_size(transform.geometry)); !why.empty()) return why;
  if (transform.erasing && transform.dtype == DType::kUint8)
    return "erasing after the normalisation, which 8-bit pixels do not have; erase before it";
  if (std::string why = transform.erasing ? unusable(*transform.erasing) : ""; !why.empty()) return why;
  for (const float std : transform.normalise.std) {
    if (!(std > 0)) return fmt::format("a std of {}; it must be positive", std);
  }
  if (options.depth < 1) return fmt::format("a depth of {}; 1 is the least", options.depth);
  if (options.threads < 0) return fmt::format("{} threads; 0 chooses", options.threads);
  return {};
}

// One core is left to the thread that launches the model's work.
int default_threads() {
  cpu_set_t set;
  const int cores = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 2;
  return std::max(1, cores - 1);
}

}  // namespace

struct Batch::Held {
  Held(std::shared_ptr<SlotStore> its_store, Slot* its_slot)
      : store(std::move(its_store)), slot(its_slot), pid(::getpid()) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (::getpid() != pid) return;  // in a forked child the mutex may be locked for ever
    const std::lock_guard lock(store->mutex());
    store->give_back(slot);
  }

  std::shared_ptr<SlotStore> store;
  Slot* slot;
  pid_t pid;
};

std::byte* Batch::data() const {
  return held_->slot->memory.get();
}
std::size_t Batch::samples() const {
  return held_->slot->samples;
}
std::span<const std::int64_t> Batch::labels() const {
  return {held_->slot->labels.data(), held_->slot->samples * held_->slot->labels_of_each};
}
std::span<const std::uint64_t> Batch::ids() const {
  return {held_->slot->ids.data(), held_->slot->samples};
}
std::span<const std::uint32_t> Batch::replaced() const {
  return held_->slot->replaced;
}
const BatchTimes& Batch::times() const {
  return held_->slot->times;
}

struct ImageLoader::State {
  State(Catalogue its_catalogue, const Plan& its_plan, const LoaderOptions& its_options)
      : catalogue(std::move(its_catalogue)),
        plan(its_plan),
        options(its_options),
        fingerprint(catalogue.fingerprint()) {}

  Catalogue catalogue;
  Plan plan;
  LoaderOptions options;
  std::uint64_t fingerprint;
  pid_t pid = ::getpid();
  std::map<std::uint64_t, BadSample> bad;
  std::unique_ptr<BatchPool> pool;  // last: its threads read the others; none once closed

  BadSample describe(const PlacedFault& fault) const {
    std::string path;
    catalogue.path(fault.sample, path);
    const auto member = catalogue.member(fault.sample);
    const std::string where = member ? fmt::format("at byte {}: ", member->offset) : "";
    return {fault.sample, std::move(path), fault.fault.stage, where + fault.fault.reason};
  }

  // Notes what is bad in a batch; the error if that ends the pass.
  std::optional<Error> judge(const Slot& slot) {
    for (const PlacedFault& fault : slot.faults) {
      if (!bad.contains(fault.sample)) bad.emplace(fault.sample, describe(fault));
    }
    if (slot.unfilled) {
      const BadSample first = describe(slot.faults.front());
      return Error{fmt::format("cannot {} sample {}, {}: {}{}", first.stage, first.sample, first.path, first.reason,
                               options.on_error == OnError::kRaise ? "; on_error=\"skip\" puts another one in its place"
                                                                   : "; nor any of those drawn for its place")};
    }
    if (bad.size() > options.max_bad)
      return Error{fmt::format("{} bad samples, where max_bad is {}; the last one is {}", bad.size(), options.max_bad,
                               bad.rbegin()->second.path)};
    return std::nullopt;
  }

  bool forked() const { return ::getpid() != pid; }
  bool works_here() const { return !forked() && pool != nullptr; }
};

ImageLoader::ImageLoader(std::unique_ptr<State> state) : state_(std::move(state)) {}

ImageLoader::~ImageLoader() {
  // The threads are the parent's, and so is what they may have locked.
  if (state_->forked()) static_cast<void>(state_.release());
}

Expected<std::unique_ptr<ImageLoader>> ImageLoader::open(const std::vector<std::string>& data,
                                                         const LoaderOptions& options) {
  if (std::string why = unusable_options(options); !why.empty()) return std::unexpected(Error{std::move(why)});
  const int threads = options.threads == 0 ? default_threads() : options.threads;
  auto catalogue = open_data(data, threads, options.listing_cache, options.columns);
  if (!catalogue) return to_error(catalogue.error());
  auto plan = Plan::make(catalogue->size(), options.plan);
  if (!plan) return to_error(plan.error());
  auto index = open_index(index_home(*catalogue, data), options.index, options.index_cache);
  if (!index) return to_error(index.error());
  const SlotShape shape{options.plan.batch_size, catalogue->labels_of_each(),
                        options.plan.batch_size * sample_bytes(options.transform)};
  auto store = SlotStore::make(shape, options);
  if (!store) return to_error(store.error());
  std::unique_ptr<State> state(new State(std::move(*catalogue), *plan, options));
  state->pool = std::make_unique<BatchPool>(state->catalogue, state->plan, options, std::move(*store),
                                            std::move(*index), threads);
  return std::unique_ptr<ImageLoader>(new ImageLoader(std::move(state)));
}

Expected<std::unique_ptr<ImageLoader>> ImageLoader::open(const std::string& data, const LoaderOptions& options) {
  return open(std::vector{data}, options);
}

std::uint64_t ImageLoader::samples() const {
  return state_->catalogue.size();
}
std::uint64_t ImageLoader::batches() const {
  return state_->plan.batches();
}
std::uint64_t ImageLoader::dropped() const {
  return state_->plan.dropped();
}
std::uint64_t ImageLoader::padded() const {
  return state_->plan.padded();
}
int ImageLoader::threads() const {
  return state_->pool == nullptr ? 0 : state_->pool->threads();
}
std::string ImageLoader::explain() const {
  return state_->works_here() ? image::explain(state_->pool->report()) : "this loader was closed";
}
Size ImageLoader::picture_size() const {
  return output_size(state_->options.transform);
}
std::size_t ImageLoader::labels_of_each() const {
  return state_->catalogue.labels_of_each();
}
const std::vector<std::string>& ImageLoader::classes(std::size_t label) const {
  return state_->catalogue.classes(label);
}
std::vector<std::string> ImageLoader::fields() const {
  std::vector<std::string> names;
  for (const Field& field : state_->catalogue.fields()) names.push_back(field.name);
  return names;
}
Expected<FieldValues> ImageLoader::field(const std::string& name, std::span<const std::uint64_t> ids) const {
  const auto& fields = state_->catalogue.fields();
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) return std::unexpected(Error{fmt::format("no field \"{}\" was asked for", name)});
  const auto taken = [&](const auto& all) -> FieldValues {
    std::remove_cvref_t<decltype(all)> some;
    for (const std::uint64_t id : ids) some.push_back(all[id]);
    return some;
  };
  return std::visit(taken, found->values);
}
std::string ImageLoader::path(std::uint64_t id) const {
  std::string path;
  state_->catalogue.path(id, path);
  return path;
}
std::int64_t ImageLoader::label(std::uint64_t id) const {
  return state_->catalogue.label(id);
}
std::uint64_t ImageLoader::fingerprint() const {
  return state_->fingerprint;
}

Expected<void> ImageLoader::start(std::uint64_t epoch, std::uint64_t first) {
  if (state_->forked())
    return std::unexpected(Error{fmt::format(
        "this loader belongs to process {} and does not work in a child forked from it; open it in the child",
        state_->pid)});
  if (state_->pool == nullptr) return std::unexpected(Error{"this loader was closed; open another one"});
  if (first > batches()) return std::unexpected(Error{fmt::format("cannot start at batch {} of {}", first, batches())});
  state_->pool->start(epoch, first);
  return {};
}

bool ImageLoader::wait(std::chrono::milliseconds patience) {
  return !state_->works_here() || state_->pool->wait(patience);
}

Expected<std::optional<Batch>> ImageLoader::next() {
  if (state_->forked())
    return std::unexpected(Error{fmt::format("this loader belongs to process {}; open it in the child", state_->pid)});
  if (state_->pool == nullptr) return std::nullopt;
  auto slot = state_->pool->next();
  if (!slot) return to_error(slot.error());
  if (*slot == nullptr) return std::nullopt;
  Batch batch(std::make_shared<Batch::Held>(state_->pool->store(), *slot));
  if (auto error = state_->judge(**slot)) {
    state_->pool->stop();
    return std::unexpected(std::move(*error));
  }
  return batch;
}

void ImageLoader::stop() {
  if (state_->works_here()) state_->pool->stop();
}

void ImageLoader::close() {
  if (state_->works_here()) state_->pool.reset();
}

IndexState ImageLoader::index() const {
  if (!state_->pool) return {};
  CheckpointStore& checkpoints = state_->pool->checkpoints();
  return {checkpoints.index_path(), checkpoints.index_bytes(), checkpoints.problem()};
}

std::vector<BadSample> ImageLoader::bad_samples() const {
  std::vector<BadSample> samples;
  for (const auto& [id, sample] : state_->bad) samples.push_back(sample);
  return samples;
}

}  // namespace fullbore::image
