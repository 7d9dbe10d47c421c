#include "feed/image/portable_math.h"

#include <cmath>

namespace fullbore::image {

double portable_exp(double x) {
  constexpr int kHalvings = 10;
  x = std::ldexp(x, -kHalvings);
  double term = 1, sum = 1;
  for (int i = 1; i <= 10; ++i) sum += term = term * x / i;
  for (int i = 0; i < kHalvings; ++i) sum *= sum;
  return sum;
}

double portable_log(double x) {
  double y = 0;  // Halley's method on exp(y) = x
  for (int i = 0; i < 12; ++i) {
    const double reached = portable_exp(y);
    y += 2 * (x - reached) / (x + reached);
  }
  return y;
}

}  // namespace fullbore::image
