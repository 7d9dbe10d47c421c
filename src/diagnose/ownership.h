// Which processes make batches for a trainer. Its workers, and nobody else's: two loaders of one process, two trainers
// of one rank, and spawned workers that number their loaders anew all meet in the same list of records.
#pragma once

#include <cstdint>
#include <set>

#include "diagnose/trainer.h"

namespace fullbore::diagnose {

class Ownership {
 public:
  explicit Ownership(const Trainer& trainer);

  // Does what this process recorded about that loader (its own number of it) concern the training loader?
  bool owns(std::uint32_t pid, std::uint32_t loader) const;

 private:
  const Trainer& trainer_;
  bool only_trainer_ = false;
  std::set<std::uint32_t> workers_;   // all that said so
  std::set<std::uint32_t> seeded_;    // of them, started by an iterator of the training loader
  std::set<std::uint32_t> children_;  // of them without a known seed, started by the training process
};

}  // namespace fullbore::diagnose
