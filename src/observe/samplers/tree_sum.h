// Sums a counter over a process tree so that it never falls and nothing is lost or counted twice when a process ends.
// Without it each finished loader worker would take its CPU time and bytes out of the sum.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace fullbore::observe {

// When a process is waited for, the kernel adds its counts to its parent's (cutime, /proc/PID/io). Until then they are
// *owed*: still counted here, and cancelled against the next growth of what the parent has inherited.
class TreeSum {
 public:
  using Counts = std::array<std::uint64_t, 4>;

  struct Member {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;  // with the pid it names the process
    std::uint32_t parent = 0;
    Counts own{};        // counted by itself
    Counts inherited{};  // where the counts of children it waited for appear; may hold its own as well
  };

  // One process of the current round.
  void add(const Member& member);
  // Ends the round: who was not added has ended.
  const Counts& end_round();
  // Of the last round; never falls.
  const Counts& total() const { return total_; }

 private:
  struct Known {
    Member member;
    Counts grown{};  // of `inherited` in this round and the last, not yet set against a debt
    Counts grown_before{};
    Counts owed{};
    bool seen = false;
  };

  void bury(std::uint32_t pid);

  std::unordered_map<std::uint32_t, Known> known_;
  Counts carried_{};  // of processes without a living ancestor in the tree
  Counts total_{};
};

}  // namespace fullbore::observe
