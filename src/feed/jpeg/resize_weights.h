// The weights of an antialiased resampling along one axis, as Pillow computes them (src/libImaging/Resample.c): double
// arithmetic in its order, then rounded to 22 bits behind the point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fullbore/jpeg.h"

namespace fullbore::jpeg {

inline constexpr int kWeightBits = 22;

// Two neighbouring taps in the form that one multiply-add of 16-bit pairs takes: weight = high * 4096 + low.
struct WeightPair {
  std::int16_t high[2];
  std::int16_t low[2];
};

class AxisWeights {
 public:
  // Keeps the weights when asked for the same ones again.
  void make(std::uint32_t in, std::uint32_t out, Filter filter);

  std::uint32_t first(std::uint32_t out) const { return first_[out]; }
  // Input positions that `out` depends on; their pairs follow, with a weight of 0 for an odd one out.
  std::uint32_t count(std::uint32_t out) const { return count_[out]; }
  std::uint32_t pairs(std::uint32_t out) const { return (count_[out] + 1) / 2; }
  const WeightPair* weights(std::uint32_t out) const { return weights_.data() + start_[out]; }
  std::uint32_t max_count() const { return max_count_; }

 private:
  std::uint32_t in_ = 0, out_ = 0;
  Filter filter_ = Filter::kBilinear;
  std::uint32_t max_count_ = 0;
  std::vector<std::uint32_t> first_, count_;
  std::vector<std::size_t> start_;
  std::vector<WeightPair> weights_;
};

}  // namespace fullbore::jpeg
