// Which processes belong to the watched command. A trainer is often not the child that was started (torchrun, mp.spawn,
// bash -c), and a worker may outlive its parent, so a process once seen stays in the tree until it ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/file_reader.h"

namespace fullbore::observe {

struct ProcessStat {
  char state = '?';  // R, S, D, T, Z, X ...
  std::uint32_t parent_pid = 0;
  std::uint32_t group = 0;
  std::uint64_t start_ticks = 0;  // field 22: tells a reused pid
};

// Nothing if the process is gone or hidden.
std::optional<ProcessStat> read_process_stat(const base::FileReader& files, std::uint32_t pid);

// Owned by one thread.
class ProcessTracker {
 public:
  ProcessTracker(const base::FileReader& files, std::uint32_t root_pid);

  // A process that proved to be one of ours, by its ring.
  void add(std::uint32_t pid);
  // Looks for new children and forgets the dead. Costs a read per thread of the tree.
  void refresh();
  // Root first, then by pid.
  std::vector<std::uint32_t> pids() const;

 private:
  void forget_the_dead();
  bool add_children_of(std::uint32_t pid, std::vector<std::uint32_t>& found);
  void add_children_by_scan();

  const base::FileReader& files_;
  std::uint32_t root_pid_;
  std::map<std::uint32_t, std::uint64_t> start_ticks_;
};

}  // namespace fullbore::observe
