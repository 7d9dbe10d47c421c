// Plain statistics over small and large samples; see statistics.h.
#include "diagnose/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fullbore::diagnose {

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> quantile(std::vector<double> values, double quantile) {
  if (values.empty()) return std::nullopt;
  const double last = static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(std::lround(std::clamp(quantile, 0.0, 1.0) * last));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::optional<double> autocorrelation(const std::vector<double>& values) {
  if (values.size() < 8) return std::nullopt;
  const double average = *mean(values);
  double variance = 0, covariance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i] - average;
    variance += deviation * deviation;
    if (i > 0) covariance += deviation * (values[i - 1] - average);
  }
  if (variance <= 0) return std::nullopt;
  return covariance / variance;
}

std::optional<double> standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double average = *mean(values), count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - average) * (value - average);
  const double r = std::clamp(autocorrelation(values).value_or(0), 0.0, 0.95);
  return std::sqrt(squares / (count - 1) / count * (1 + r) / (1 - r));
}

}  // namespace fullbore::diagnose
