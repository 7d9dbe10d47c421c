#include "feed/image/shuffle.h"

#include <bit>

#include "feed/image/philox.h"

namespace fullbore::image {
namespace {

// Stafford's variant 13 of MurmurHash3's finaliser: every bit of the input moves half of the output's.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Shuffle::Shuffle(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) : size_(size) {
  const int bits = size < 2 ? 1 : static_cast<int>(std::bit_width(size - 1));
  half_bits_ = (bits + 1) / 2;
  const SampleRandom random{seed, epoch, 0};
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = random.block(Draw::kOrder, i / 4)[i % 4];
}

std::uint64_t Shuffle::at(std::uint64_t position) const {
  do {
    position = permute(position);
  } while (position >= size_);
  return position;
}

std::uint64_t Shuffle::permute(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mix(right + key) >> (64 - half_bits_));
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

}  // namespace fullbore::image
