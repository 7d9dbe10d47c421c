// Batches, steps, hand-over and epoch edges out of a Situation; see record_loop.h.
#include "diagnose/replay/record_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "diagnose/causes/conditions.h"
#include "diagnose/gain.h"
#include "diagnose/situation.h"
#include "diagnose/statistics.h"

namespace fullbore::diagnose::replay {
namespace {

constexpr std::size_t kLeastBatches = 10;
constexpr double kUnmatchedShare = 0.2;
constexpr double kNegligible = 0.05;
constexpr int kMostChunks = 8;

double ms_of(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

double known_ms(std::int64_t ns, double otherwise = 0) {
  return ns == wire::kUnknown || ns < 0 ? otherwise : ms_of(ns);
}

std::optional<std::string> refusal(const Situation& situation) {
  const WaitWalk& walk = situation.walk;
  if (situation.trainer->loop != LoopKind::kLoader) return "the loop reads no torch DataLoader";
  if (!situation.trainer->companions.empty()) return "the loop reads several loaders in one step";
  if (!situation.loader.workers) return "how many workers the loader has is not known";
  const double waits = static_cast<double>(walk.matched + walk.unmatched);
  if (waits <= 0 || static_cast<double>(walk.unmatched) > kUnmatchedShare * waits)
    return "too many batches have no record of how they were made";
  if (situation.makers.totals.timed_ns <= 0) return "the processor time of making batches was not measured";
  if (!situation.resources.rank_cores) return "how many cores the job may use is not known";
  // A loop that only launches work runs ahead of the device, and what the device takes for a step does not show.
  if (situation.gpu && !situation.device && situation.profile.loop.share(wire::Stage::kBlocking) <= 0)
    return "the model is on a GPU, whose time per step was not seen";
  return std::nullopt;
}

// Which of the trainer's iterators was running.
class RunningIterator {
 public:
  explicit RunningIterator(const Trainer& trainer) {
    for (const auto* iterator : trainer.iterators) begun_.emplace_back(iterator->begin_ns, iterator->iterator);
  }

  // 0 before the first.
  std::uint32_t at(std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(begun_, std::pair(time_ns, UINT32_MAX));
    return after == begun_.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::uint32_t>> begun_;
};

// One recorded batch, with who made it.
struct Recorded {
  const wire::BatchRecord* batch;
  std::size_t worker;      // position in Makers::workers
  std::uint32_t iterator;  // that it was made for
};

// In the judged part of the run, in the order in which the loop takes them. Traced ones are slower than life.
std::vector<Recorded> judged_batches(const Situation& situation) {
  std::vector<Recorded> all, plain;
  const Iterations& iterations = situation.iterations;
  const RunningIterator iterators(*situation.trainer);
  for (std::size_t w = 0; w < situation.makers.workers.size(); ++w) {
    for (const Made& made : situation.makers.workers[w].made) {
      const wire::BatchRecord& batch = *made.batch;
      if (batch.put_ns < iterations.whole_begin_ns || batch.begin_ns > iterations.whole_end_ns) continue;
      if (batch.cpu_ns == wire::kUnknown || batch.collated_ns <= batch.begin_ns) continue;
      all.push_back({&batch, w, iterators.at(batch.begin_ns)});
      if ((batch.flags & wire::kTraced) == 0) plain.push_back(all.back());
    }
  }
  std::vector<Recorded>& chosen = plain.size() * 3 >= all.size() ? plain : all;
  std::ranges::stable_sort(chosen, {}, [](const Recorded& r) { return std::pair(r.iterator, r.batch->batch); });
  return std::move(chosen);
}

BatchCost cost_of(const wire::BatchRecord& batch) {
  const double wall = ms_of(batch.collated_ns - batch.begin_ns), fetch = ms_of(batch.fetched_ns - batch.begin_ns);
  const double cpu = std::clamp(ms_of(batch.cpu_ns), 0.0, wall);
  const double runq = std::min(known_ms(batch.runq_ns), wall - cpu);
  const double blocked = wall - cpu - runq;
  BatchCost cost;
  cost.fetch_blocked = std::min(blocked, fetch);
  cost.collate_blocked = blocked - cost.fetch_blocked;
  const double collate = std::max(0.0, wall - fetch - cost.collate_blocked);
  cost.collate_cpu = cpu > 0 ? std::min(cpu, collate * cpu / (cpu + runq)) : 0;
  cost.fetch_cpu = cpu - cost.collate_cpu;
  if (batch.worker != wire::kUnknown32) cost.put = ms_of(batch.put_ns - batch.collated_ns);
  const bool alternates = cost.fetch_cpu > kNegligible * fetch && cost.fetch_blocked > kNegligible * fetch;
  if (alternates && batch.samples != wire::kUnknown32) cost.chunks = std::clamp(batch.samples, 1, kMostChunks);
  return cost;
}

// What of it a slow sample took beyond a typical one: first of what is unusual about the time blocked, then of the
// rest.
void mark_slow_sample(const wire::BatchRecord& batch, double typical_ns, double typical_blocked, BatchCost& cost) {
  const double slowest = static_cast<double>(batch.slowest_ns);
  if (batch.slowest_ns == wire::kUnknown || typical_ns <= 0 || slowest < kSlowSampleFactor * typical_ns) return;
  const double fetch = ms_of(batch.fetched_ns - batch.begin_ns);
  const double without_queue = fetch > 0 ? (cost.fetch_cpu + cost.fetch_blocked) / fetch : 1;
  const double extra = (slowest - typical_ns) / 1e6 * std::min(1.0, without_queue);
  cost.extra_blocked = std::clamp(cost.fetch_blocked - typical_blocked, 0.0, extra);
  cost.extra_cpu = std::min(extra - cost.extra_blocked, cost.fetch_cpu);
}

void take_batches(const Situation& situation, const std::vector<Recorded>& recorded, Loop& loop) {
  const bool by_worker = slow_maker(situation) != nullptr;
  loop.batches.resize(by_worker ? situation.makers.workers.size() : 1);
  std::vector<double> blocked;
  std::vector<BatchCost> costs;
  const auto kept = kept_positions(recorded.size());
  for (const std::size_t position : kept) {
    costs.push_back(cost_of(*recorded[position].batch));
    blocked.push_back(costs.back().fetch_blocked);
  }
  const double typical_blocked = *median(std::move(blocked));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Recorded& one = recorded[kept[i]];
    mark_slow_sample(*one.batch, situation.makers.sample_ns.value_or(0), typical_blocked, costs[i]);
    loop.batches[by_worker ? one.worker : 0].push_back(costs[i]);
  }
  std::erase_if(loop.batches, [](const auto& pool) { return pool.empty(); });
}

// A device at its limit gives its bytes to whoever asks, and no more of them to more workers: what was blocked is its
// queue, which the replay makes anew.
void take_device(const Situation& situation, const std::vector<Recorded>& recorded, Loop& loop) {
  if (!storage_limited(situation)) return;
  const Resources& resources = situation.resources;
  double bytes = 0;
  for (const Recorded& one : recorded) bytes += std::max(0.0, static_cast<double>(one.batch->read_bytes));
  const double seconds =
      static_cast<double>(situation.iterations.whole_end_ns - situation.iterations.whole_begin_ns) / 1e9;
  const double seen = bytes / seconds / std::clamp(resources.device_busy.value_or(1), 0.1, 1.0);
  loop.device_bytes_per_ms = resources.device_limit_bytes_per_s.value_or(seen) / 1e3;
  const double per_batch = bytes / static_cast<double>(recorded.size());
  for (auto& pool : loop.batches) {
    for (BatchCost& cost : pool) cost.device_bytes = per_batch, cost.fetch_blocked = cost.extra_blocked = 0;
  }
}

void take_bodies(const Situation& situation, Loop& loop) {
  const auto& all = situation.iterations.all;
  std::vector<BodyCost> bodies;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].steady) continue;
    const double wall = ms_of(all[i].end_ns - all[i].wait_end_ns);
    const bool followed = i + 1 < all.size() && all[i + 1].next != nullptr && all[i + 1].begin_ns == all[i].end_ns;
    const double cpu = followed ? std::min(wall, known_ms(all[i + 1].next->loop_cpu_ns)) : 0;
    const double runq = followed ? std::min(wall - cpu, known_ms(all[i + 1].next->loop_runq_ns)) : 0;
    // Without the wait for input the device would still need the time in which it worked on while the loop waited.
    bodies.push_back({cpu, wall - cpu - runq + situation.hidden_wait_ms()});
  }
  for (const std::size_t position : kept_positions(bodies.size())) loop.bodies.push_back(bodies[position]);
}

// CPU time of the pin thread per step, 0 where there is none.
double pin_thread_ms(const Situation& situation) {
  const std::string prefix = fmt::format("pin/{}/", situation.trainer->pid);
  const Iterations& judged = situation.iterations;
  const auto rate = sum_of_rates(*situation.run, "thread.cpu_s", prefix, judged.whole_begin_ns, judged.whole_end_ns);
  return rate.value_or(0) * situation.step_ms();
}

// From the batch being in the worker's queue to next() returning it, where the loop was waiting for just that.
std::optional<double> late_handoff_ms(const Situation& situation, double receive) {
  std::vector<double> late;
  for (const Maker& maker : situation.makers.workers) {
    std::size_t at = 0;
    for (const Iteration& iteration : situation.iterations.all) {
      if (!iteration.steady || iteration.next == nullptr || iteration.next->worker != maker.worker) continue;
      while (at < maker.made.size() && maker.made[at].batch->put_ns < iteration.begin_ns) ++at;
      if (at == maker.made.size()) break;
      const wire::BatchRecord& batch = *maker.made[at].batch;
      if (batch.batch != iteration.next->batch || batch.put_ns > iteration.wait_end_ns) continue;
      late.push_back(ms_of(iteration.wait_end_ns - batch.put_ns) - known_ms(iteration.next->runq_ns));
    }
  }
  const auto typical = median(std::move(late));
  return typical ? std::optional(std::max(0.0, *typical - receive)) : std::nullopt;
}

// From the loop sending an index to its worker beginning it, where that had nothing else to do: an index follows the
// batch that is prefetch * workers before its own.
std::optional<double> dispatch_ms(const Situation& situation, const Loop& loop) {
  const std::int64_t depth = static_cast<std::int64_t>(loop.workers) * loop.prefetch;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> sent;  // (iterator, batch): time
  const RunningIterator iterators(*situation.trainer);
  for (const auto* next : situation.trainer->nexts) {
    if (next->batch != wire::kUnknown) sent[{next->iterator, next->batch + depth}] = next->end_ns;
  }
  std::vector<double> delays;
  for (const Maker& maker : situation.makers.workers) {
    for (std::size_t i = 1; i < maker.made.size(); ++i) {
      const wire::BatchRecord& batch = *maker.made[i].batch;
      if (maker.made[i - 1].pid != maker.made[i].pid) continue;
      const auto index = sent.find({iterators.at(batch.begin_ns), batch.batch});
      if (index == sent.end() || index->second > batch.begin_ns) continue;
      if (maker.made[i - 1].batch->put_ns < index->second) delays.push_back(ms_of(batch.begin_ns - index->second));
    }
  }
  return median(std::move(delays));
}

void take_handoff(const Situation& situation, Loop& loop) {
  double cpu = 0, sampler = 0, pin = 0;
  std::size_t steps = 0;
  for (const Iteration& iteration : situation.iterations.all) {
    if (!iteration.steady || iteration.next == nullptr) continue;
    ++steps;
    cpu += known_ms(iteration.next->cpu_ns);
    sampler += known_ms(iteration.next->sampler_ns);
    pin += known_ms(iteration.next->pin_ns);
  }
  if (steps == 0) return;
  const double count = static_cast<double>(steps);
  loop.handoff.sampler = sampler / count;
  loop.handoff.receive = std::max(cpu, sampler) / count;
  if (loop.workers == 0) {
    const auto& totals = situation.makers.totals;
    const double making = totals.batches > 0 ? totals.cpu_ns / 1e6 / static_cast<double>(totals.batches) : 0;
    loop.handoff.pin = pin / count;
    loop.handoff.receive = std::max(loop.handoff.sampler, cpu / count - making - loop.handoff.pin);
    return;
  }
  loop.handoff.dispatch = dispatch_ms(situation, loop).value_or(0);
  loop.handoff.pin = situation.loader.pin_memory.value_or(false) ? pin_thread_ms(situation) : 0;
  const auto late = late_handoff_ms(situation, loop.handoff.receive);
  if (!late) return;
  const double way = std::max(0.0, *late - loop.handoff.pin);
  // What the threads that send did not compute they waited, for the interpreter of their worker above all.
  const auto sending = situation.resources.helper_cores;
  const double computed = sending ? *sending / trainers_on_host(situation.resources) * situation.step_ms() : way;
  loop.handoff.transit = std::min(way, computed);
  loop.handoff.transit_blocked = way - loop.handoff.transit;
}

// Steps of each pass over the loader that was seen from its first to its last batch.
std::optional<double> steps_per_epoch(const Iterations& iterations) {
  std::vector<double> lengths;
  double length = 0;
  bool open = false;
  for (const Iteration& iteration : iterations.all) {
    if (iteration.first) {
      if (open) lengths.push_back(length);
      open = true;
      length = 0;
    }
    ++length;
  }
  return median(std::move(lengths));
}

// Mean time from iter() until its workers began their first batch.
double start_ms(const Situation& situation, const wire::IteratorRecord& iterator) {
  double sum = 0;
  std::size_t count = 0;
  for (const Maker& maker : situation.makers.workers) {
    const auto first = std::ranges::lower_bound(maker.made, iterator.begin_ns, {},
                                                [](const Made& made) { return made.batch->begin_ns; });
    if (first == maker.made.end()) continue;
    sum += ms_of(first->batch->begin_ns - iterator.begin_ns);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void take_edges(const Situation& situation, Loop& loop) {
  const Iterations& iterations = situation.iterations;
  const auto epoch = steps_per_epoch(iterations);
  loop.edges.batches = static_cast<std::size_t>(
      epoch.value_or(static_cast<double>(std::max<std::int64_t>(0, situation.loader.batches.value_or(0)))));
  std::vector<double> create, start, stop;
  for (const auto* iterator : situation.trainer->iterators) {
    if (iterator->begin_ns < iterations.whole_begin_ns || iterator->begin_ns > iterations.whole_end_ns) continue;
    create.push_back(ms_of(iterator->end_ns - iterator->begin_ns));
    start.push_back(start_ms(situation, *iterator));
  }
  for (const EpochGap& gap : iterations.gaps) {
    if (gap.begin_ns >= iterations.whole_begin_ns) stop.push_back(ms_of(gap.stop_end_ns - gap.begin_ns));
  }
  loop.edges.several = !create.empty();
  loop.edges.create = mean(create).value_or(0);
  loop.edges.start = mean(start).value_or(0);
  loop.edges.stop = mean(stop).value_or(0);
  const auto paused = [](const Accounted& account) {
    if (account.iterations == 0) return 0.0;
    double ns = account.between_epochs_ns + account.unknown_ns;
    for (const Claim claim : {Claim::kCheckpoint, Claim::kValidation, Claim::kLogging, Claim::kGarbageCollection})
      ns += account.claim_ns(claim);
    return ns / 1e6 / static_cast<double>(account.iterations);
  };
  // Pauses of the steady steps are in their bodies already.
  loop.edges.fixed_per_step = std::max(0.0, paused(situation.whole) - paused(situation.steady));
}

// CPU time per step that the job burns elsewhere than in making batches and in the loop's own thread: threads of a
// queue, of arithmetic, other processes of the command.
double other_cpu_ms(const Situation& situation) {
  const auto tree = cpu_ms_per_step(situation);
  const Iterations& iterations = situation.iterations;
  if (!situation.resources.tree_cores || !tree || situation.whole.iterations == 0) return 0;
  double seen = 0;
  for (const Maker& maker : situation.makers.workers) {
    for (const Made& made : maker.made) {
      const wire::BatchRecord& batch = *made.batch;
      if (maker.worker == wire::kUnknown32 || batch.put_ns < iterations.whole_begin_ns) continue;
      if (batch.begin_ns < iterations.whole_end_ns)
        seen += known_ms(batch.cpu_ns) + ms_of(batch.put_ns - batch.collated_ns);
    }
  }
  for (const auto* next : situation.trainer->nexts) {
    if (next->begin_ns >= iterations.whole_begin_ns && next->begin_ns < iterations.whole_end_ns)
      seen += known_ms(next->cpu_ns) + known_ms(next->loop_cpu_ns);
  }
  const double steps = static_cast<double>(situation.whole.iterations);
  const double whole_ms = situation.whole.total_ns / 1e6 / steps;
  return std::max(0.0, *tree * whole_ms / situation.step_ms() - seen / steps);
}

double cores_of_others(const Resources& resources) {
  const double per_rank =
      *resources.rank_cores / std::max(1e-9, resources.usable_cores.value_or(*resources.rank_cores));
  // Under a quota others are in the way only as far as they take more than the quota leaves unused.
  const double unused = std::max(0.0, resources.affinity_cores.value_or(0) - resources.usable_cores.value_or(0));
  return std::max(0.0, resources.neighbour_cores.value_or(0) - unused) * per_rank;
}

}  // namespace

std::vector<std::size_t> kept_positions(std::size_t count) {
  std::vector<std::size_t> positions;
  if (count <= kKept) {
    for (std::size_t i = 0; i < count; ++i) positions.push_back(i);
    return positions;
  }
  constexpr std::size_t kStretches = kKept / kStretch;
  for (std::size_t s = 0; s < kStretches; ++s) {
    const std::size_t begin = s * (count - kStretch) / (kStretches - 1);
    for (std::size_t i = 0; i < kStretch; ++i) positions.push_back(begin + i);
  }
  return positions;
}

std::expected<Loop, std::string> record_loop(const Situation& situation) {
  if (auto why = refusal(situation)) return std::unexpected(*std::move(why));
  const std::vector<Recorded> recorded = judged_batches(situation);
  if (recorded.size() < kLeastBatches) return std::unexpected("too few batches were made after warm-up");
  Loop loop;
  loop.workers = static_cast<int>(*situation.loader.workers);
  loop.prefetch = static_cast<int>(situation.loader.prefetch_factor.value_or(2));
  loop.persistent = situation.loader.persistent_workers.value_or(false);
  loop.cores = *situation.resources.rank_cores;
  loop.other_cores = cores_of_others(situation.resources);
  loop.other_cpu = other_cpu_ms(situation);
  loop.batch_mb = situation.loader.batch_mb.value_or(0);
  loop.warmup = situation.iterations.warmup;
  loop.step_ms = situation.step_ms();
  loop.wait_ms = situation.wait_ms();
  loop.steps = situation.iterations.steady;
  if (situation.whole.iterations > 0)
    loop.whole_ms = situation.whole.total_ns / 1e6 / static_cast<double>(situation.whole.iterations);
  take_batches(situation, recorded, loop);
  take_device(situation, recorded, loop);
  take_bodies(situation, loop);
  take_handoff(situation, loop);
  take_edges(situation, loop);
  if (loop.bodies.empty()) return std::unexpected("no steady step was seen");
  return loop;
}

}  // namespace fullbore::diagnose::replay
