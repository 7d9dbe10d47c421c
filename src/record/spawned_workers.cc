#include "record/spawned_workers.h"

#include <unordered_map>

namespace fullbore::record {
namespace {

// Loader of each worker process: that of the iterator with its seed, in its parent if several processes drew the same.
std::unordered_map<std::uint32_t, std::uint32_t> loaders_by_worker(const RankRecords& rank) {
  std::unordered_map<std::uint32_t, std::uint32_t> loaders;
  for (const auto& process : rank.processes) {
    if (process.record.role != wire::Role::kWorker || process.record.base_seed == wire::kUnknown) continue;
    bool from_parent = false;
    for (const auto& iterator : rank.iterators) {
      const bool parent = iterator.pid == process.record.parent_pid;
      if (iterator.record.base_seed != process.record.base_seed || (from_parent && !parent)) continue;
      loaders[process.pid] = iterator.record.loader;
      from_parent = parent;
    }
  }
  return loaders;
}

template <typename Record>
void fill_in(std::vector<From<Record>>& list, const std::unordered_map<std::uint32_t, std::uint32_t>& loaders) {
  for (auto& entry : list) {
    if (entry.record.loader != 0) continue;
    if (const auto found = loaders.find(entry.pid); found != loaders.end()) entry.record.loader = found->second;
  }
}

}  // namespace

void name_loaders_of_spawned_workers(RankRecords& rank) {
  const auto loaders = loaders_by_worker(rank);
  fill_in(rank.batches, loaders);
  fill_in(rank.samples, loaders);
  fill_in(rank.profile, loaders);
}

}  // namespace fullbore::record
