#include "feed/image/normal_numbers.h"

#include <cmath>

#include "feed/image/portable_math.h"

namespace fullbore::image {

double NormalNumbers::uniform() {
  if (used_ % block_.size() == 0) block_ = random_.block(purpose_, used_ / block_.size());
  return to_unit(block_[used_++ % block_.size()]);
}

float NormalNumbers::next() {
  for (;;) {
    const double u = 1 - uniform();  // not zero
    const double v = 1.7156 * (uniform() - 0.5);
    const double x = u - 0.449871, y = std::abs(v) + 0.386595;
    const double q = x * x + y * (0.19600 * y - 0.25472 * x);
    if (q < 0.27597) return static_cast<float>(v / u);
    if (q <= 0.27846 && v * v <= -4 * portable_log(u) * u * u) return static_cast<float>(v / u);
  }
}

}  // namespace fullbore::image
