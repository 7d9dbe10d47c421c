// See repeats.h. The hook looks at the first batches of each pass; the first pass is compared, as a dataset may well
// order the later ones by how often it was asked.
#include "diagnose/causes/repeats.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagnose/causes/conditions.h"

namespace fullbore::diagnose {
namespace {

constexpr std::size_t kLeastBatches = 4;
constexpr double kAlike = 0.9;
// Data that repeats by itself (all zeros, a few made-up batches in turn) says nothing about who gives it.
constexpr double kDistinct = 0.9;

using Contents = std::map<std::int64_t, std::uint32_t>;  // by number

bool tells_batches_apart(const Contents& contents) {
  std::set<std::uint32_t> distinct;
  for (const auto& [number, content] : contents) distinct.insert(content);
  return contents.size() >= kLeastBatches &&
         static_cast<double>(distinct.size()) >= kDistinct * static_cast<double>(contents.size());
}

// By batch index; of several passes the first.
Contents contents_of(const Maker& maker) {
  Contents contents;
  for (const Made& made : maker.made) {
    if (made.batch->content != 0) contents.emplace(made.batch->batch, made.batch->content);
  }
  return contents;
}

// torch asks workers in turn, so the n-th batches of all have the same quotient; others are left out.
Contents by_turn(const Maker& maker, std::int64_t workers) {
  Contents contents;
  for (const auto& [batch, content] : contents_of(maker)) {
    if (batch % workers == maker.worker) contents.emplace(batch / workers, content);
  }
  return contents;
}

// What is alike in both; nullopt where too little is in both, or it is not alike.
std::optional<Repeats> compare(const Contents& one, const Contents& other) {
  double both = 0, identical = 0;
  for (const auto& [number, content] : one) {
    const auto found = other.find(number);
    if (found == other.end()) continue;
    ++both;
    if (found->second == content) ++identical;
  }
  if (both < static_cast<double>(kLeastBatches) || identical < kAlike * both) return std::nullopt;
  return Repeats{2, both, identical / both};
}

void join(std::optional<Repeats>& all, const Repeats& another) {
  if (!all) {
    all = another;
    return;
  }
  ++all->copies;
  all->batches = std::min(all->batches, another.batches);
  all->identical = std::min(all->identical, another.identical);
}

// Other ranks may well read the same where they hold other parts of the model.
bool averages_over_all(const Trainer& trainer) {
  const std::int32_t ranks = world_size(trainer);
  const wire::LoaderRecord* loader = training_loader(trainer);
  return loader != nullptr && ranks > 1 && loader->replicas == static_cast<std::uint32_t>(ranks);
}

// A rank runs the same program, so its loaders have the same numbers.
Contents contents_of(const record::RankRecords& rank, std::uint32_t loader) {
  Contents contents;
  for (const auto& batch : rank.batches) {
    if (batch.record.loader == loader && batch.record.content != 0)
      contents.emplace(batch.record.batch, batch.record.content);
  }
  return contents;
}

}  // namespace

std::optional<Repeats> repeats_of_workers(const Situation& situation) {
  const auto& makers = situation.makers.workers;
  const std::int64_t workers = situation.loader.workers.value_or(0);
  if (!situation.loader.iterable.value_or(false) || workers < 2 || makers.size() != static_cast<std::size_t>(workers))
    return std::nullopt;
  const Contents first = by_turn(makers.front(), workers);
  if (!tells_batches_apart(first)) return std::nullopt;
  std::optional<Repeats> all;
  for (const Maker& maker : makers) {
    if (&maker == &makers.front()) continue;
    const auto same = compare(first, by_turn(maker, workers));
    if (!same) return std::nullopt;
    join(all, *same);
  }
  return all;
}

std::optional<Repeats> repeats_of_ranks(const Situation& situation) {
  const Trainer& trainer = *situation.trainer;
  if (situation.run->ranks.size() < 2 || situation.makers.workers.empty() || !averages_over_all(trainer))
    return std::nullopt;
  Contents mine;
  for (const Maker& maker : situation.makers.workers) {
    const Contents some = contents_of(maker);
    if (!some.empty() && !tells_batches_apart(some)) return std::nullopt;
    mine.insert(some.begin(), some.end());
  }
  const std::uint32_t loader = situation.makers.workers.front().made.front().batch->loader;
  std::optional<Repeats> all;
  for (const record::RankRecords& rank : situation.run->ranks) {
    if (&rank == trainer.rank) continue;
    const auto same = compare(mine, contents_of(rank, loader));
    if (!same) return std::nullopt;
    join(all, *same);
  }
  return all;
}

}  // namespace fullbore::diagnose
