// The order of an epoch as a function: position -> sample, without a table. A table of 1.3 million entries would have
// to be shuffled before the first batch of each epoch, on every rank, and kept.
#pragma once

#include <array>
#include <cstdint>

namespace fullbore::image {

// A permutation of [0, size): a Feistel network over the next even power of two, applied again until it falls inside
// (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
class Shuffle {
 public:
  Shuffle(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);

  // `position` < size.
  std::uint64_t at(std::uint64_t position) const;

 private:
  static constexpr int kRounds = 8;

  std::uint64_t permute(std::uint64_t value) const;

  std::uint64_t size_;
  int half_bits_ = 1;
  std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace fullbore::image
