#include "observe/samplers/tree_sum.h"

#include <algorithm>
#include <vector>

namespace fullbore::observe {
namespace {

void add_to(TreeSum::Counts& sum, const TreeSum::Counts& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

// Takes the same amount, as much as both have, off `a` and `b`.
void cancel(std::uint64_t& a, std::uint64_t& b) {
  const std::uint64_t common = std::min(a, b);
  a -= common;
  b -= common;
}

}  // namespace

void TreeSum::add(const Member& member) {
  const auto [it, is_new] = known_.try_emplace(member.pid);
  Known& known = it->second;
  if (!is_new && known.member.start != member.start) {
    // The pid was used again between two rounds.
    bury(member.pid);
    known = Known{};
  }
  if (known.member.start == member.start && known.member.pid == member.pid) {
    for (std::size_t i = 0; i < member.own.size(); ++i) {
      const std::uint64_t before = known.member.inherited[i];
      known.grown[i] = member.inherited[i] > before ? member.inherited[i] - before : 0;
    }
  }
  known.member = member;
  known.seen = true;
}

void TreeSum::bury(std::uint32_t pid) {
  const Known& dead = known_.at(pid);
  Counts left = dead.member.own;
  add_to(left, dead.member.inherited);
  add_to(left, dead.owed);
  // An ended ancestor passed everything on to its own: look for the nearest that still lives.
  std::uint32_t heir = dead.member.parent;
  for (int depth = 0; depth < 64; ++depth) {
    const auto it = known_.find(heir);
    if (heir == pid || it == known_.end()) break;
    if (it->second.seen) return add_to(it->second.owed, left);
    heir = it->second.member.parent;
  }
  add_to(carried_, left);
}

const TreeSum::Counts& TreeSum::end_round() {
  std::vector<std::uint32_t> ended;
  for (const auto& [pid, known] : known_) {
    if (!known.seen) ended.push_back(pid);
  }
  for (const std::uint32_t pid : ended) bury(pid);
  for (const std::uint32_t pid : ended) known_.erase(pid);

  Counts sum = carried_;
  for (auto& [pid, known] : known_) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      // Growth of the last round counts too: a child may be read, then waited for, then its parent read.
      cancel(known.owed[i], known.grown_before[i]);
      cancel(known.owed[i], known.grown[i]);
    }
    add_to(sum, known.member.own);
    add_to(sum, known.member.inherited);
    add_to(sum, known.owed);
    known.grown_before = known.grown;
    known.grown = {};
    known.seen = false;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) total_[i] = std::max(total_[i], sum[i]);
  return total_;
}

}  // namespace fullbore::observe
