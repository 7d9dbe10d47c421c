// The few statistics that judging needs. All of them answer "not measured" for an empty sample instead of inventing
// zero.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fullbore::diagnose {

std::optional<double> mean(const std::vector<double>& values);
// By selection, O(n). `quantile` in [0, 1], nearest rank.
std::optional<double> quantile(std::vector<double> values, double quantile);
inline std::optional<double> median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}
// Lag-1 autocorrelation: near 1 when long waits come in bursts. Needs at least 8 values that differ.
std::optional<double> autocorrelation(const std::vector<double>& values);
// Of the mean, widened where neighbours resemble each other (AR(1): by sqrt((1+r)/(1-r)), r not below 0).
std::optional<double> standard_error(const std::vector<double>& values);

}  // namespace fullbore::diagnose
