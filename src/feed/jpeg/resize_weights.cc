#include "feed/jpeg/resize_weights.h"

#include <algorithm>
#include <cmath>

namespace fullbore::jpeg {
namespace {

double bilinear(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

// Keys' cubic with a = -0.5, in Pillow's order of operations.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

std::int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

void append(std::vector<WeightPair>& pairs, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    WeightPair pair{};
    for (std::size_t j = 0; j < 2 && i + j < weights.size(); ++j) {
      const std::int32_t fixed = to_fixed(weights[i + j]);
      const std::int32_t low = ((fixed + 2048) & 4095) - 2048;
      pair.low[j] = static_cast<std::int16_t>(low);
      pair.high[j] = static_cast<std::int16_t>((fixed - low) / 4096);
    }
    pairs.push_back(pair);
  }
}

}  // namespace

void AxisWeights::make(std::uint32_t in, std::uint32_t out, Filter filter) {
  if (in == in_ && out == out_ && filter == filter_) return;
  in_ = in;
  out_ = out;
  filter_ = filter;
  max_count_ = 0;
  first_.clear();
  count_.clear();
  start_.clear();
  weights_.clear();
  const double scale = static_cast<double>(in) / out;
  const double filter_scale = std::max(scale, 1.0);
  const double support = (filter == Filter::kBilinear ? 1.0 : 2.0) * filter_scale;
  const double inverse = 1.0 / filter_scale;
  std::vector<double> taps;
  for (std::uint32_t x = 0; x < out; ++x) {
    const double center = (x + 0.5) * scale;
    const int begin = std::max(static_cast<int>(center - support + 0.5), 0);
    const int end = std::min(static_cast<int>(center + support + 0.5), static_cast<int>(in));
    taps.clear();
    double sum = 0;
    for (int i = begin; i < end; ++i) {
      const double position = (i - center + 0.5) * inverse;
      taps.push_back(filter == Filter::kBilinear ? bilinear(position) : bicubic(position));
      sum += taps.back();
    }
    if (sum != 0) {
      for (double& tap : taps) tap /= sum;
    }
    // Pillow's sums do not change when taps of weight 0 are left out at the end.
    while (taps.size() > 1 && to_fixed(taps.back()) == 0) taps.pop_back();
    first_.push_back(static_cast<std::uint32_t>(begin));
    count_.push_back(static_cast<std::uint32_t>(taps.size()));
    start_.push_back(weights_.size());
    append(weights_, taps);
    max_count_ = std::max(max_count_, count_.back());
  }
}

}  // namespace fullbore::jpeg
