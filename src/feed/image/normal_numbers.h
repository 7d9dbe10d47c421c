// Normally distributed numbers of one sample, by basic operations: the same on every processor.
#pragma once

#include <cstdint>

#include "feed/image/philox.h"

namespace fullbore::image {

// A ratio of uniform numbers, with the bounds of Leva ("A fast normal random number generator", 1992): of 100 tries 73
// are taken, and one needs a logarithm.
class NormalNumbers {
 public:
  NormalNumbers(const SampleRandom& random, Draw purpose) : random_(random), purpose_(purpose) {}

  // Mean 0, variance 1.
  float next();

 private:
  double uniform();

  const SampleRandom random_;
  const Draw purpose_;
  PhiloxBlock block_{};
  std::uint64_t used_ = 0;  // numbers of all blocks
};

}  // namespace fullbore::image
