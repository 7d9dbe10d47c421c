// A worker belongs to the iterator that drew its base_seed; without a seed the parent and the loader's number must do.
// See ownership.h.
#include "diagnose/ownership.h"

namespace fullbore::diagnose {

Ownership::Ownership(const Trainer& trainer) : trainer_(trainer) {
  std::set<std::int64_t> seeds;
  for (const auto* iterator : trainer.iterators) seeds.insert(iterator->base_seed);
  seeds.erase(wire::kUnknown);
  std::set<std::uint32_t> trainers;
  for (const auto& next : trainer.rank->nexts) trainers.insert(next.pid);
  only_trainer_ = trainers.size() <= 1;
  for (const auto& [process, pid, tid] : trainer.rank->processes) {
    if (process.role != wire::Role::kWorker) continue;
    workers_.insert(pid);
    if (seeds.contains(process.base_seed)) seeded_.insert(pid);
    const bool seedless = process.base_seed == wire::kUnknown || seeds.empty();
    if (seedless && process.parent_pid == trainer.pid) children_.insert(pid);
  }
}

bool Ownership::owns(std::uint32_t pid, std::uint32_t loader) const {
  if (seeded_.contains(pid)) return true;
  if (!trainer_.trains_with(loader)) return false;
  if (pid == trainer_.pid || children_.contains(pid)) return true;
  // A worker whose own record was lost is taken for ours if there is no other trainer.
  return only_trainer_ && !workers_.contains(pid);
}

}  // namespace fullbore::diagnose
