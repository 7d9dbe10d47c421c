// Random numbers without a state: each is a pure function of (seed, stream, count). A replay draws the same numbers
// whatever order its events come in, and two settings replayed with one seed differ by the setting alone.
#pragma once

#include <cstdint>

namespace fullbore::diagnose::replay {

// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), over counters an odd constant apart.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t count) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;
  return mix(mix(mix(seed + kGolden) + stream * kGolden) + count * kGolden);
}

// In [0, n), n > 0. The bias of the multiplication is below 2^-32 for any n that a run can have.
constexpr std::uint64_t random_below(std::uint64_t n, std::uint64_t seed, std::uint64_t stream, std::uint64_t count) {
  return ((random_bits(seed, stream, count) >> 32) * n) >> 32;
}

// In (0, 1).
constexpr double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t count) {
  return (static_cast<double>(random_bits(seed, stream, count) >> 11) + 0.5) * 0x1p-53;
}

}  // namespace fullbore::diagnose::replay
