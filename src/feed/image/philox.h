// Random numbers that are a function of their place: Philox 4x64 with ten rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011). No state is carried from sample to sample, so neither threads nor a resumed run
// can shift it.
#pragma once

#include <array>
#include <cstdint>

namespace fullbore::image {

using PhiloxBlock = std::array<std::uint64_t, 4>;

inline PhiloxBlock philox4x64(PhiloxBlock counter, std::array<std::uint64_t, 2> key) {
  __extension__ using Wide = unsigned __int128;
  for (int round = 0; round < 10; ++round) {
    const Wide a = Wide{0xD2E7470EE14C6C93} * counter[0];
    const Wide b = Wide{0xCA5A826395121157} * counter[2];
    counter = {static_cast<std::uint64_t>(b >> 64) ^ counter[1] ^ key[0], static_cast<std::uint64_t>(b),
               static_cast<std::uint64_t>(a >> 64) ^ counter[3] ^ key[1], static_cast<std::uint64_t>(a)};
    key[0] += 0x9E3779B97F4A7C15;
    key[1] += 0xBB67AE8584CAA73B;
  }
  return counter;
}

// What numbers are drawn for; each purpose has its own, so that adding a transform leaves the others as they were.
enum class Draw : std::uint64_t { kOrder, kCrop, kFlip, kRefill, kColor, kGray, kErase, kNormal };

// The numbers of one sample in one epoch. `index` counts the draws of a purpose, `which` the steps that have it.
struct SampleRandom {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sample = 0;

  PhiloxBlock block(Draw purpose, std::uint64_t index, std::uint64_t which = 0) const {
    return philox4x64({sample, epoch, index, static_cast<std::uint64_t>(purpose)}, {seed, which});
  }
};

// [0, 1), 53 bits.
inline double to_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// [0, below); the bias is below / 2^64.
inline std::uint64_t to_range(std::uint64_t bits, std::uint64_t below) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{bits} * below >> 64);
}

}  // namespace fullbore::image
